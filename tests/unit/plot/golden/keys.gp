# A roofline drawn by Roofwalk; gnuplot 5.4 or later turns it into 'keys.svg'.
set encoding utf8
set terminal svg size 960,600 dynamic noenhanced background rgb 'white' font 'sans-serif,13' name 'roofline'
set output './keys.svg'
set lmargin at screen 0.091667
set rmargin at screen 0.966667
set bmargin at screen 0.123333
set tmargin at screen 0.870000
unset key
set logscale xy
set xrange [0.000999999:1.000001]
set yrange [9999990:2.6793482e+10]
set border 3 lc rgb '#666666' lw 1
set grid xtics ytics lt 1 lc rgb '#ececec' lw 1
set xtics nomirror out scale 0.8,0.4 textcolor rgb '#222222' ('0.001' 0.001, '' 0.002 1, '' 0.003 1, '' 0.004 1, '' 0.005 1, '' 0.006 1, '' 0.007 1, '' 0.008 1, '' 0.009 1, '0.01' 0.01, '' 0.02 1, '' 0.03 1, '' 0.04 1, '' 0.05 1, '' 0.06 1, '' 0.07 1, '' 0.08 1, '' 0.09 1, '0.1' 0.1, '' 0.2 1, '' 0.3 1, '' 0.4 1, '' 0.5 1, '' 0.6 1, '' 0.7 1, '' 0.8 1, '' 0.9 1, '1' 1)
set ytics nomirror out scale 0.8,0.4 textcolor rgb '#222222' ('10 M' 1e+07, '' 2e+07 1, '' 3e+07 1, '' 4e+07 1, '' 5e+07 1, '' 6e+07 1, '' 7e+07 1, '' 8e+07 1, '' 9e+07 1, '100 M' 1e+08, '' 2e+08 1, '' 3e+08 1, '' 4e+08 1, '' 5e+08 1, '' 6e+08 1, '' 7e+08 1, '' 8e+08 1, '' 9e+08 1, '1 G' 1e+09, '' 2e+09 1, '' 3e+09 1, '' 4e+09 1, '' 5e+09 1, '' 6e+09 1, '' 7e+09 1, '' 8e+09 1, '' 9e+09 1, '10 G' 1e+10, '' 2e+10 1)
set label 'arithmetic intensity, useful key / DRAM byte' at screen 0.52917,0.05000 center font 'sans-serif,13' textcolor rgb '#222222' front
set label 'useful key/s' at screen 0.01458,0.49667 center rotate by 90.00 font 'sans-serif,13' textcolor rgb '#222222' front
set arrow from 0.0833333,6.44819e+08 to 0.0833333,5.12433e+09 head filled size screen 0.01042,18 fixed front lw 1.6 lc rgb 14847565
set arrow from 0.0833333,6.67444e+09 to 0.0833333,8.56768e+09 head filled size screen 0.01033,18 fixed front lw 2.2 lc rgb 14382630
set label 'DRAM 128 GB/s' at screen 0.14799,0.42774 center rotate by 25.02 font 'sans-serif,13' textcolor rgb '#0072b2' front
set label 'L2 384 GB/s' at screen 0.13784,0.52409 center rotate by 25.02 font 'sans-serif,13' textcolor rgb '#a34d7e' front
set label 'L1 1.02 TB/s' at screen 0.13904,0.61776 center rotate by 25.02 font 'sans-serif,13' textcolor rgb '#2a7aab' front
set label 'algorithmic AI 0.0833' at screen 0.74524,0.14667 center font 'sans-serif,12' textcolor rgb '#666666' front
set label 'pass' at screen 0.11981,0.36197 center rotate by 25.02 font 'sans-serif,13' textcolor rgb '#00755a' front
set label '2' at screen 0.63847,0.80581 center font 'sans-serif,15' textcolor rgb '#00755a' front
set label '1' at screen 0.66743,0.72686 center font 'sans-serif,13' textcolor rgb '#222222' front
set label 'starter' at screen 0.69180,0.50578 center font 'sans-serif,13' textcolor rgb '#666666' front
set label 'mini-keys on virtual:classroom (n=1048576)' at screen 0.09167,0.96000 left font 'sans-serif,18' textcolor rgb '#222222' front
set label 'times are modelled (hollow dots); green: goals met' at screen 0.09167,0.92000 left font 'sans-serif,12' textcolor rgb '#666666' front
set label 'roofs: data sheet' at screen 0.96667,0.01667 right font 'sans-serif,11' textcolor rgb '#666666' front
$goal << EOD
0.001 1.28e+08
0.0833333 1.06667e+10
0.0833333 6.4e+09
0.001 7.68e+07
EOD
$hatch << EOD
0.0833333 1e+07
0.0882711 1.13126e+07

0.0833333 1.17184e+07
0.0882711 1.32565e+07

0.0833333 1.3732e+07
0.0882711 1.55345e+07

0.0833333 1.60916e+07
0.0882711 1.82038e+07

0.0833333 1.88567e+07
0.0882711 2.13319e+07

0.0833333 2.2097e+07
0.0882711 2.49975e+07

0.0833333 2.5894e+07
0.0882711 2.92929e+07

0.0833333 3.03436e+07
0.0882711 3.43265e+07

0.0833333 3.55577e+07
0.0882711 4.0225e+07

0.0833333 4.16677e+07
0.0882711 4.71371e+07

0.0833333 4.88277e+07
0.0882711 5.52369e+07

0.0833333 5.72181e+07
0.0882711 6.47286e+07

0.0833333 6.70502e+07
0.0882711 7.58512e+07

0.0833333 7.85718e+07
0.0882711 8.88852e+07

0.0833333 9.20732e+07
0.0882711 1.04159e+08

0.0833333 1.07895e+08
0.0882711 1.22057e+08

0.0833333 1.26435e+08
0.0882711 1.43031e+08

0.0833333 1.48161e+08
0.0882711 1.67608e+08

0.0833333 1.7362e+08
0.0882711 1.9641e+08

0.0833333 2.03454e+08
0.0882711 2.3016e+08

0.0833333 2.38415e+08
0.0882711 2.69709e+08

0.0833333 2.79383e+08
0.0882711 3.16055e+08

0.0833333 3.27391e+08
0.0882711 3.70364e+08

0.0833333 3.83648e+08
0.0882711 4.34006e+08

0.0833333 4.49572e+08
0.0882711 5.08584e+08

0.0833333 5.26825e+08
0.0882711 5.95977e+08

0.0833333 6.17352e+08
0.0882711 6.98386e+08

0.0833333 7.23435e+08
0.0882711 8.18394e+08

0.0833333 8.47747e+08
0.0882711 9.59023e+08

0.0833333 9.9342e+08
0.0882711 1.12382e+09

0.0833333 1.16412e+09
0.0882711 1.31693e+09

0.0833333 1.36416e+09
0.0882711 1.54322e+09

0.0833333 1.59857e+09
0.0882711 1.80841e+09

0.0833333 1.87327e+09
0.0882711 2.11915e+09

0.0833333 2.19516e+09
0.0882711 2.4833e+09

0.0833333 2.57237e+09
0.0882711 2.91002e+09

0.0833333 3.01439e+09
0.0882711 3.41006e+09

0.0833333 3.53237e+09
0.0882711 3.99603e+09

0.0833333 4.13935e+09
0.0882711 4.68269e+09

0.0833333 4.85064e+09
0.0882711 5.48734e+09

0.0833333 5.68416e+09
0.0882711 6.43027e+09

0.0833333 6.66089e+09
0.0882711 7.53521e+09

0.0833333 7.80547e+09
0.0882711 8.83003e+09

0.0833333 9.14673e+09
0.0882711 1.03473e+10

EOD
$wall << EOD
0.0833333 1e+07
0.0833333 1.06667e+10
EOD
$roof_l2 << EOD
0.001 3.84e+08
0.0697746 2.67935e+10
EOD
$roof_l1 << EOD
0.001 1.024e+09
0.0261655 2.67935e+10
EOD
$roof_dram << EOD
0.001 1.28e+08
0.209324 2.67935e+10
EOD
# key/byte, key/s, size, point type, colour
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
     $roof_l2 using 1:2 with lines lw 1.2 lc rgb '#cc79a7', \
     $roof_l1 using 1:2 with lines lw 1.2 lc rgb '#56b4e9', \
     $roof_dram using 1:2 with lines lw 3 lc rgb '#0072b2', \
     $dots using 1:2:3:4:5 with points ps variable pt variable lc rgb variable
unset output
