"""Functions that go into repro files as text; they need nothing but torch."""
