// Lines on what is odd about a class as it was given. Each is empty if there is nothing to say.
#pragma once

#include <string>

#include "grader/class/hand_ins/listing.h"
#include "grader/class/hand_ins/lms_metadata.h"

namespace roofwalk {

// Names in a zip whose encoding is unknown. `top`: the class's label.
std::string line_about_encoding(const std::string& top, const Listing& listing);

// At least half of the folders have the names of Canvas files: somebody unpacked each of Canvas' zips into a folder of
// its own.
std::string line_about_unpacked(const std::string& top, const Listing& listing);

// The platform's records give no time for some of the folders.
std::string line_about_times(const std::string& top, const Listing& listing, const LmsRecords& records);

// The path is taken for a class of `count` students, while the record has `known`. `namesake`: see ClassNames.
std::string line_about_class(const std::string& top, std::size_t count, std::size_t known, const std::string& namesake);

}  // namespace roofwalk
