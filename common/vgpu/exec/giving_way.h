// Lanes of a warp that poll in vain let others go ahead, that went another way at a branch: on a GPU, all lanes
// proceed (independent thread scheduling).
//
// Lanes that lead to the same point of reconvergence may go there in any order, so those that poll change places with
// others on the reconvergence stack. If there are none in the function whose code polls, but in one that has called it,
// the lanes leave their calls (LeftCalls) and return to them when their turn comes. Recursive calls cannot be left, as
// the registers of the whole warp are kept for them.
//
// A wait of an mbarrier knows when it is in vain, and so does a loop that does nothing but poll a flag, when it begins
// its next round. Another loop that polls may do something useful in each round, so its lanes give way only after more
// rounds than a short wait takes.
#pragma once

#include "common/vgpu/state/launch.h"

namespace roofwalk::vgpu {

// Notes that the executing lanes have polled.
void note_poll(Warp& warp, bool in_vain);

// Whether the executing lanes, which begin the next round of a loop, have polled in vain for long enough. At an
// mbarrier: at once if lanes of their block had to give way before, after a few polls if no other warp of the block can
// help them, else after more polls than a wait for another warp takes. `looks`: whether the loop polls a flag.
bool may_give_way(Warp& warp, bool looks);

// Lets other lanes of the warp, which have yet to run or wait themselves, go ahead of the executing ones, which
// continue at `block`. Returns whether there are any; the warp continues at go_on().
bool let_others_ahead(Warp& warp, std::uint32_t block);

// Makes the executing lanes go on in the calls that they have left. Returns where the warp continues.
const Op* return_to_calls(Launch& launch, Warp& warp, std::vector<MeetingLanes>::iterator own);

}  // namespace roofwalk::vgpu
