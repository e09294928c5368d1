# A roofline drawn by Roofwalk; gnuplot 5.4 or later turns it into 'vector_add.svg'.
set encoding utf8
set terminal svg size 960,600 dynamic noenhanced background rgb 'white' font 'sans-serif,13' name 'roofline'
set output './vector_add.svg'
set lmargin at screen 0.091667
set rmargin at screen 0.966667
set bmargin at screen 0.123333
set tmargin at screen 0.870000
unset key
set logscale xy
set xrange [0.00999999:100.0001]
set yrange [99999900:5.1443486e+12]
set border 3 lc rgb '#666666' lw 1
set grid xtics ytics lt 1 lc rgb '#ececec' lw 1
set xtics nomirror out scale 0.8,0.4 textcolor rgb '#222222' ('0.01' 0.01, '' 0.02 1, '' 0.03 1, '' 0.04 1, '' 0.05 1, '' 0.06 1, '' 0.07 1, '' 0.08 1, '' 0.09 1, '0.1' 0.1, '' 0.2 1, '' 0.3 1, '' 0.4 1, '' 0.5 1, '' 0.6 1, '' 0.7 1, '' 0.8 1, '' 0.9 1, '1' 1, '' 2 1, '' 3 1, '' 4 1, '' 5 1, '' 6 1, '' 7 1, '' 8 1, '' 9 1, '10' 10, '' 20 1, '' 30 1, '' 40 1, '' 50 1, '' 60 1, '' 70 1, '' 80 1, '' 90 1, '100' 100)
set ytics nomirror out scale 0.8,0.4 textcolor rgb '#222222' ('100 M' 1e+08, '' 2e+08 1, '' 3e+08 1, '' 4e+08 1, '' 5e+08 1, '' 6e+08 1, '' 7e+08 1, '' 8e+08 1, '' 9e+08 1, '1 G' 1e+09, '' 2e+09 1, '' 3e+09 1, '' 4e+09 1, '' 5e+09 1, '' 6e+09 1, '' 7e+09 1, '' 8e+09 1, '' 9e+09 1, '10 G' 1e+10, '' 2e+10 1, '' 3e+10 1, '' 4e+10 1, '' 5e+10 1, '' 6e+10 1, '' 7e+10 1, '' 8e+10 1, '' 9e+10 1, '100 G' 1e+11, '' 2e+11 1, '' 3e+11 1, '' 4e+11 1, '' 5e+11 1, '' 6e+11 1, '' 7e+11 1, '' 8e+11 1, '' 9e+11 1, '1 T' 1e+12, '' 2e+12 1, '' 3e+12 1, '' 4e+12 1, '' 5e+12 1)
set label 'arithmetic intensity, useful FLOP / DRAM byte' at screen 0.52917,0.05000 center font 'sans-serif,13' textcolor rgb '#222222' front
set label 'useful FLOP/s' at screen 0.01458,0.49667 center rotate by 90.00 font 'sans-serif,13' textcolor rgb '#222222' front
set arrow from 0.0833333,6.75289e+08 to 0.0833333,4.86095e+09 head filled size screen 0.01042,18 fixed front lw 1.6 lc rgb 14847565
set arrow from 0.0833333,6.98983e+09 to 0.0833333,7.96807e+09 head filled size screen 0.00394,18 fixed front lw 2.2 lc rgb 14382630
set label 'DRAM 128 GB/s' at screen 0.14884,0.36131 center rotate by 24.36 font 'sans-serif,13' textcolor rgb '#0072b2' front
set label 'L2 384 GB/s' at screen 0.13936,0.43005 center rotate by 24.36 font 'sans-serif,13' textcolor rgb '#a34d7e' front
set label 'L1 1.02 TB/s' at screen 0.14119,0.49889 center rotate by 24.36 font 'sans-serif,13' textcolor rgb '#2a7aab' front
set label 'FP32 2.05 TFLOP/s' at screen 0.89760,0.82581 center font 'sans-serif,13' textcolor rgb '#222222' front
set label 'algorithmic AI 0.0833' at screen 0.38643,0.14667 center font 'sans-serif,12' textcolor rgb '#666666' front
set label 'ridge 16 FLOP/B' at screen 0.86340,0.14667 center font 'sans-serif,12' textcolor rgb '#666666' front
set label 'pass' at screen 0.11967,0.29567 center rotate by 24.36 font 'sans-serif,13' textcolor rgb '#00755a' front
set label '2' at screen 0.27966,0.46833 center font 'sans-serif,15' textcolor rgb '#00755a' front
set label '1' at screen 0.30862,0.40398 center font 'sans-serif,13' textcolor rgb '#222222' front
set label 'starter' at screen 0.33299,0.24313 center font 'sans-serif,13' textcolor rgb '#666666' front
set label 'vector-add on virtual:classroom (n=1048576)' at screen 0.09167,0.96000 left font 'sans-serif,18' textcolor rgb '#222222' front
set label 'times are modelled (hollow dots); green: goals met' at screen 0.09167,0.92000 left font 'sans-serif,12' textcolor rgb '#666666' front
set label 'roofs: data sheet' at screen 0.96667,0.01667 right font 'sans-serif,11' textcolor rgb '#666666' front
$goal << EOD
0.01 1.28e+09
0.0833333 1.06667e+10
0.0833333 6.4e+09
0.01 7.68e+08
EOD
$hatch << EOD
0.0833333 1e+08
0.0899813 1.18472e+08

0.0833333 1.2435e+08
0.0899813 1.4732e+08

0.0833333 1.5463e+08
0.0899813 1.83193e+08

0.0833333 1.92283e+08
0.0899813 2.27801e+08

0.0833333 2.39105e+08
0.0899813 2.83272e+08

0.0833333 2.97328e+08
0.0899813 3.5225e+08

0.0833333 3.69729e+08
0.0899813 4.38024e+08

0.0833333 4.5976e+08
0.0899813 5.44685e+08

0.0833333 5.71713e+08
0.0899813 6.77318e+08

0.0833333 7.10927e+08
0.0899813 8.42248e+08

0.0833333 8.84041e+08
0.0899813 1.04734e+09

0.0833333 1.09931e+09
0.0899813 1.30237e+09

0.0833333 1.367e+09
0.0899813 1.6195e+09

0.0833333 1.69986e+09
0.0899813 2.01386e+09

0.0833333 2.11379e+09
0.0899813 2.50424e+09

0.0833333 2.6285e+09
0.0899813 3.11403e+09

0.0833333 3.26856e+09
0.0899813 3.87231e+09

0.0833333 4.06446e+09
0.0899813 4.81524e+09

0.0833333 5.05418e+09
0.0899813 5.98777e+09

0.0833333 6.28489e+09
0.0899813 7.44582e+09

0.0833333 7.81529e+09
0.0899813 9.2589e+09

EOD
$wall << EOD
0.0833333 1e+08
0.0833333 1.06667e+10
EOD
$ridge << EOD
16 1e+08
16 2.048e+12
EOD
$roof_l2 << EOD
0.01 3.84e+09
5.33333 2.048e+12
EOD
$roof_l1 << EOD
0.01 1.024e+10
2 2.048e+12
EOD
$roof_faster << EOD
2 2.048e+12
16 2.048e+12
EOD
$roof_peak << EOD
16 2.048e+12
100 2.048e+12
EOD
$roof_dram << EOD
0.01 1.28e+09
16 2.048e+12
EOD
# FLOP/byte, FLOP/s, size, point type, colour
$dots << EOD
0.0833333 5.7e+08 1.23 5 6710886
0.0833333 5.7e+08 0.778 5 16777215
0.0833333 5.9e+09 1.23 7 14448939
0.0833333 5.9e+09 0.778 7 16777215
0.0833333 1.04e+10 1.84 7 40563
0.0833333 1.04e+10 1.39 7 16777215
EOD
plot $goal using 1:2 with filledcurves closed fs solid 1 noborder fc rgb '#def3eb', \
     $hatch using 1:2 with lines lw 1 lc rgb '#7a7a7a', \
     $wall using 1:2 with lines lw 2 lc rgb '#7a7a7a', \
     $ridge using 1:2 with lines dt 3 lw 1.5 lc rgb '#666666', \
     $roof_l2 using 1:2 with lines lw 1.2 lc rgb '#cc79a7', \
     $roof_l1 using 1:2 with lines lw 1.2 lc rgb '#56b4e9', \
     $roof_faster using 1:2 with lines lw 1.2 lc rgb '#222222', \
     $roof_peak using 1:2 with lines lw 2.5 lc rgb '#222222', \
     $roof_dram using 1:2 with lines lw 3 lc rgb '#0072b2', \
     $dots using 1:2:3:4:5 with points ps variable pt variable lc rgb variable
unset output
