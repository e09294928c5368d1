// The roofs that one chapter's dots are measured against.
#pragma once

#include "common/exercise/chapter.h"
#include "grader/rig/rig.h"

namespace roofwalk {

// Returns the rig's memory roofs and the compute roof that the chapter's manifest names, in the chapter's unit.
Roofs roofs_for(const Rig& rig, const Chapter& chapter);

}  // namespace roofwalk
