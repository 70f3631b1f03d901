"""The plots of a report: each file makes one, as a Vega-Lite specification; ``svg`` turns it into SVG."""
