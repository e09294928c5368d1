// Tells the times of a download from those of hand-ins.
#pragma once

#include "grader/class/hand_ins/listing.h"
#include "grader/class/hand_ins/lms_names.h"

namespace roofwalk {

// Whether the times of a class's files are those of a download: Moodle gives a zip's entries the time at which it makes
// the zip, as Canvas does for a quiz. Making it takes a while if files are large, so the times differ a little.
bool has_downloads_times(const Listing& listing, const ClassNames& names);

}  // namespace roofwalk
