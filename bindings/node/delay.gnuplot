# SPDX-License-Identifier: MIT
# Bars of the event loop's delay; `data` names the file of bench.
set terminal svg size 760,360 font "sans,12" background "white"
set style data histogram
set style histogram clustered gap 1
set style fill solid 0.8
set ylabel "ms that the event loop is late (log)"
set logscale y
set yrange [0.01:]
set xtics rotate by -25 noenhanced
set grid ytics
set key top left
plot data using ($2/1000):xtic(1) linecolor rgb "#336699" title "median", \
	'' using ($3/1000) linecolor rgb "#cc6633" title "99 of 100 are less"
