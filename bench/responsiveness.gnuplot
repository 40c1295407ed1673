# SPDX-License-Identifier: MIT
# Bars of the time that the caller is blocked; `data` names the file of medians.
set terminal svg size 760,360 font "sans,12" background "white"
set style data histogram
set style fill solid 0.8
set boxwidth 0.7
set ylabel "microseconds that the caller is blocked (log)"
set logscale y
set yrange [5:]
set xtics rotate by -25 noenhanced
set grid ytics
unset key
plot data using 2:xtic(1) linecolor rgb "#336699", \
	'' using 0:2:(sprintf("%.0f", $2)) with labels offset 0,0.6
