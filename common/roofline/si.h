// Formats numbers for people: three significant digits and a decimal prefix.
#pragma once

#include <string>
#include <string_view>

namespace roofwalk {

// Returns "128 GB/s" for 1.28e11 and "B/s"; "0.0833 FLOP/B" for 0.0833333 and "FLOP/B" (no prefix below 1). An empty
// unit leaves no trailing space. Values that are not finite are "inf" or "nan".
std::string si_text(double value, std::string_view unit);

// Returns "98.3 us" for 98304; the units go from ns to s.
std::string time_text(double elapsed_ns);

// Formats three significant digits, or the rounded number from 100 on, without a prefix: 16 -> "16", 1.5 -> "1.5",
// 0.083333 -> "0.0833", 4096.4 -> "4096". Below 1e-6 and from 1e15 on, the text has an exponent.
std::string number_text(double value);

}  // namespace roofwalk
