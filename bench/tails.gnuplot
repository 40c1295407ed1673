# SPDX-License-Identifier: MIT
# Median and p95 of the time that a start blocks the caller while every processor is busy; `data` names
# the file.
set terminal svg size 760,400 font "sans,12" background "white"
set style data histogram
set style histogram clustered gap 1
set style fill solid 0.8
set ylabel "microseconds that the caller is blocked (log)"
set logscale y
set yrange [5:]
set xtics rotate by -25 noenhanced
set rmargin 12 # for the last name
set grid ytics
set key top left
plot data using 2:xtic(1) title "median" linecolor rgb "#336699", \
	'' using 3 title "p95" linecolor rgb "#cc6633"
