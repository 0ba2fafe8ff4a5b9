"""Where cells look for the frame of a chart."""

from shardlens import charting

COLOURS, blank, chart = charting.CHART_COLOURS, charting.blank, charting.chart
