# A roofline drawn by Roofwalk; gnuplot 5.4 or later turns it into 'naive_gemm.png'.
set encoding utf8
set terminal pngcairo size 1920,1200 noenhanced background rgb 'white' font 'sans-serif,13' fontscale 1.5 linewidth 2 pointscale 2.7
set output './naive_gemm.png'
set lmargin at screen 0.091667
set rmargin at screen 0.966667
set bmargin at screen 0.123333
set tmargin at screen 0.870000
unset key
set logscale xy
set xrange [0.00999999:1000.001]
set yrange [9.99999e+08:5.1443486e+12]
set border 3 lc rgb '#666666' lw 1
set grid xtics ytics lt 1 lc rgb '#ececec' lw 1
set xtics nomirror out scale 0.8,0.4 textcolor rgb '#222222' ('0.01' 0.01, '' 0.02 1, '' 0.03 1, '' 0.04 1, '' 0.05 1, '' 0.06 1, '' 0.07 1, '' 0.08 1, '' 0.09 1, '0.1' 0.1, '' 0.2 1, '' 0.3 1, '' 0.4 1, '' 0.5 1, '' 0.6 1, '' 0.7 1, '' 0.8 1, '' 0.9 1, '1' 1, '' 2 1, '' 3 1, '' 4 1, '' 5 1, '' 6 1, '' 7 1, '' 8 1, '' 9 1, '10' 10, '' 20 1, '' 30 1, '' 40 1, '' 50 1, '' 60 1, '' 70 1, '' 80 1, '' 90 1, '100' 100, '' 200 1, '' 300 1, '' 400 1, '' 500 1, '' 600 1, '' 700 1, '' 800 1, '' 900 1, '1000' 1000)
set ytics nomirror out scale 0.8,0.4 textcolor rgb '#222222' ('1 G' 1e+09, '' 2e+09 1, '' 3e+09 1, '' 4e+09 1, '' 5e+09 1, '' 6e+09 1, '' 7e+09 1, '' 8e+09 1, '' 9e+09 1, '10 G' 1e+10, '' 2e+10 1, '' 3e+10 1, '' 4e+10 1, '' 5e+10 1, '' 6e+10 1, '' 7e+10 1, '' 8e+10 1, '' 9e+10 1, '100 G' 1e+11, '' 2e+11 1, '' 3e+11 1, '' 4e+11 1, '' 5e+11 1, '' 6e+11 1, '' 7e+11 1, '' 8e+11 1, '' 9e+11 1, '1 T' 1e+12, '' 2e+12 1, '' 3e+12 1, '' 4e+12 1, '' 5e+12 1)
set label 'arithmetic intensity, useful FLOP / L1 byte' at screen 0.52917,0.05000 center font 'sans-serif,13' textcolor rgb '#222222' front
set label 'useful FLOP/s' at screen 0.01458,0.49667 center rotate by 90.00 font 'sans-serif,13' textcolor rgb '#222222' front
set arrow from 0.0647128,1.71951e+10 to 0.360784,2.19685e+11 head filled size screen 0.01042,18 fixed front lw 2.2 lc rgb 14382630
set label 'L1 1.02 TB/s' at screen 0.14842,0.41547 center rotate by 35.70 font 'sans-serif,13' textcolor rgb '#2a7aab' front
set label 'FP32 2.05 TFLOP/s' at screen 0.89760,0.80873 center font 'sans-serif,13' textcolor rgb '#222222' front
set label 'algorithmic AI 85.3' at screen 0.86545,0.14667 center font 'sans-serif,12' textcolor rgb '#666666' front
set label 'ridge 2 FLOP/B' at screen 0.56143,0.14667 center font 'sans-serif,12' textcolor rgb '#666666' front
set label 'pass' at screen 0.75711,0.76819 center font 'sans-serif,13' textcolor rgb '#00755a' front
set label '1' at screen 0.38546,0.58250 center font 'sans-serif,15' textcolor rgb '#00755a' front
set label 'starter' at screen 0.26391,0.34246 center font 'sans-serif,13' textcolor rgb '#666666' front
set label 'naive-gemm on virtual:classroom (m=n=k=512)' at screen 0.09167,0.96000 left font 'sans-serif,18' textcolor rgb '#222222' front
set label 'times are modelled (hollow dots); green: goals met' at screen 0.09167,0.92000 left font 'sans-serif,12' textcolor rgb '#666666' front
set label 'roofs: data sheet' at screen 0.96667,0.01667 right font 'sans-serif,11' textcolor rgb '#666666' front
$goal << EOD
0.3 3.072e+11
2 2.048e+12
85.3333 2.048e+12
85.3333 4e+10
2 4e+10
0.3 4e+10
EOD
$hatch << EOD
85.3333 1e+09
93.9259 1.14285e+09

85.3333 1.18729e+09
93.9259 1.3569e+09

85.3333 1.40967e+09
93.9259 1.61104e+09

85.3333 1.67369e+09
93.9259 1.91277e+09

85.3333 1.98716e+09
93.9259 2.27102e+09

85.3333 2.35934e+09
93.9259 2.69637e+09

85.3333 2.80122e+09
93.9259 3.20138e+09

85.3333 3.32587e+09
93.9259 3.80098e+09

85.3333 3.94879e+09
93.9259 4.51287e+09

85.3333 4.68837e+09
93.9259 5.35811e+09

85.3333 5.56647e+09
93.9259 6.36164e+09

85.3333 6.60903e+09
93.9259 7.55313e+09

85.3333 7.84685e+09
93.9259 8.96778e+09

85.3333 9.31652e+09
93.9259 1.06474e+10

85.3333 1.10614e+10
93.9259 1.26416e+10

85.3333 1.31332e+10
93.9259 1.50093e+10

85.3333 1.55929e+10
93.9259 1.78204e+10

85.3333 1.85134e+10
93.9259 2.1158e+10

85.3333 2.19808e+10
93.9259 2.51208e+10

85.3333 2.60976e+10
93.9259 2.98257e+10

85.3333 3.09856e+10
93.9259 3.54119e+10

85.3333 3.67889e+10
93.9259 4.20443e+10

85.3333 4.36793e+10
93.9259 4.99189e+10

85.3333 5.18601e+10
93.9259 5.92683e+10

85.3333 6.15731e+10
93.9259 7.03689e+10

85.3333 7.31054e+10
93.9259 8.35485e+10

85.3333 8.67975e+10
93.9259 9.91966e+10

85.3333 1.03054e+11
93.9259 1.17775e+11

85.3333 1.22355e+11
93.9259 1.39834e+11

85.3333 1.45272e+11
93.9259 1.66024e+11

85.3333 1.7248e+11
93.9259 1.97119e+11

85.3333 2.04784e+11
93.9259 2.34038e+11

85.3333 2.43139e+11
93.9259 2.77872e+11

85.3333 2.88678e+11
93.9259 3.29915e+11

85.3333 3.42745e+11
93.9259 3.91706e+11

85.3333 4.06939e+11
93.9259 4.6507e+11

85.3333 4.83155e+11
93.9259 5.52175e+11

85.3333 5.73647e+11
93.9259 6.55593e+11

85.3333 6.81087e+11
93.9259 7.78381e+11

85.3333 8.0865e+11
93.9259 9.24167e+11

85.3333 9.60105e+11
93.9259 1.09726e+12

85.3333 1.13993e+12
93.9259 1.30277e+12

85.3333 1.35343e+12
93.9259 1.54676e+12

85.3333 1.60691e+12
93.9259 1.83646e+12

EOD
$wall << EOD
85.3333 1e+09
85.3333 2.048e+12
EOD
$ridge << EOD
2 1e+09
2 2.048e+12
EOD
$roof_peak << EOD
2 2.048e+12
1000 2.048e+12
EOD
$roof_l1 << EOD
0.01 1.024e+10
2 2.048e+12
EOD
# FLOP/byte, FLOP/s, size, point type, colour
$dots << EOD
0.0606 1.56e+10 1.23 5 6710886
0.0606 1.56e+10 0.778 5 16777215
0.4 2.56e+11 1.84 7 40563
0.4 2.56e+11 1.39 7 16777215
EOD
plot $goal using 1:2 with filledcurves closed fs solid 1 noborder fc rgb '#def3eb', \
     $hatch using 1:2 with lines lw 1 lc rgb '#7a7a7a', \
     $wall using 1:2 with lines lw 2 lc rgb '#7a7a7a', \
     $ridge using 1:2 with lines dt 3 lw 1.5 lc rgb '#666666', \
     $roof_peak using 1:2 with lines lw 2.5 lc rgb '#222222', \
     $roof_l1 using 1:2 with lines lw 3 lc rgb '#56b4e9', \
     $dots using 1:2:3:4:5 with points ps variable pt variable lc rgb variable
unset output
