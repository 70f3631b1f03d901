"""Child processes: forked with torch imported, limited in time, ended with all that they started."""
