// Tells the times of a download from those of hand-ins.
#pragma once

#include "grader/class/hand_ins/listing.h"
#include "grader/class/hand_ins/lms_names.h"

namespace roofwalk {

// Whether the times of a class's files only tell when a platform made the zip. Moodle gives that time to all entries of
// a zip, and so does Canvas for a quiz. If files are large, making a zip takes a while, so the times differ a little.
bool has_downloads_times(const Listing& listing, const ClassNames& names);

}  // namespace roofwalk
