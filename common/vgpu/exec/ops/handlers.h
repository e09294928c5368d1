// Handlers by family, and the functions that choose one for an instruction (nullptr: not supported).
#pragma once

#include "common/vgpu/state/launch.h"

namespace roofwalk::vgpu {

// The message of the fault when the budget is spent.
inline constexpr const char* kOutOfBudget =
    "runs too long: the kernel is still running after its budget of work; is this loop endless?";

// control_ops.cpp
const Op* op_enter_block(Launch& launch, Warp& warp, const Op* op);
const Op* op_fall_through(Launch& launch, Warp& warp, const Op* op);
const Op* op_branch(Launch& launch, Warp& warp, const Op* op);
const Op* op_indexed_branch(Launch& launch, Warp& warp, const Op* op);  // brx.idx; s[0]: the index
const Op* op_exit(Launch& launch, Warp& warp, const Op* op);
const Op* op_guard(Launch& launch, Warp& warp, const Op* op);
// Like op_guard, for the second and further operations of one instruction: does not count again the lanes that the
// guard masks off.
const Op* op_guard_again(Launch& launch, Warp& warp, const Op* op);
const Op* op_barrier(Launch& launch, Warp& warp, const Op* op);
const Op* op_block_barrier(Launch& launch, Warp& warp, const Op* op);      // for the whole block, as __syncthreads()
const Op* op_unaligned_barrier(Launch& launch, Warp& warp, const Op* op);  // any barrier.sync without .aligned
// Which barrier an instruction names, and for how many threads (0: all of the block), by what the first of `lanes` has
// in its registers.
struct NamedBarrier {
  std::uint32_t number = 0, threads = 0;
  bool operator==(const NamedBarrier&) const = default;
};
NamedBarrier barrier_named(const Warp& warp, const Op* op, std::uint32_t lanes);
// Makes a whole warp arrive at a barrier that some lanes name.
const Op* come_to_barrier(Launch& launch, Warp& warp, const Op* op, const NamedBarrier& named);
const Op* op_end_turn(Launch& launch, Warp& warp, const Op* op);  // before an operation that may write a flag
const Op* op_nothing(Launch& launch, Warp& warp, const Op* op);
const Op* op_fence(Launch& launch, Warp& warp, const Op* op);
const Op* op_meet_in_warp(Launch& launch, Warp& warp, const Op* op);  // __syncwarp
const Op* op_trap(Launch& launch, Warp& warp, const Op* op);
const Op* op_sleep(Launch& launch, Warp& warp, const Op* op);  // nanosleep: ends the turn
// Drops stack entries without lanes that can run (all have exited, returned or stand in front of a barrier), and ends
// calls from which all lanes have returned. Then makes the lanes of the top entry execute. False if no lane is left.
bool resume_top(const Launch& launch, Warp& warp);
// Called when the executing lanes cannot continue. Continues with other lanes of the warp, or ends the warp.
const Op* go_on(Launch& launch, Warp& warp);
// Returns the lanes that the instruction's guard enables.
std::uint32_t guard_mask(const Warp& warp, const Op* op);

// alu_ops.cpp: arithmetic and logic, lane by lane. s[0]: the result; s[1] and following: the sources.
Handler alu_handler(const ptx::Instruction& instruction);
// Special cases of arithmetic and logic (integer_ops.cpp, float_ops.cpp); nullptr for all other instructions.
Handler integer_handler(const ptx::Instruction& instruction);
Handler float_handler(const ptx::Instruction& instruction);

// carry_ops.cpp: add.cc, addc and the other carry instructions.
Handler carry_handler(const ptx::Instruction& instruction);

// move_ops.cpp: mov, selp, cvta, shfl, vote, activemask, and copies of whole slots.
Handler move_handler(int size_bytes);               // s[0] = s[1]; 0 bytes: predicates
Handler pack_handler(int parts, int part_bytes);    // mov.b64 d, {a, b}
Handler unpack_handler(int parts, int part_bytes);  // mov.b64 {a, b}, d
Handler select_handler(int size_bytes);             // s[0] = s[3] ? s[1] : s[2]
Handler add_offset_handler(int size_bytes);         // s[0] = s[1] + offset (cvta)
const Op* op_shuffle(Launch& launch, Warp& warp, const Op* op);
const Op* op_vote(Launch& launch, Warp& warp, const Op* op);
const Op* op_active_mask(Launch& launch, Warp& warp, const Op* op);

// convert_ops.cpp: cvt.
Handler convert_handler(const ptx::Instruction& instruction, int result_bytes, int source_bytes);
// Whether the conversion runs as vector code; all other conversions run lane by lane.
bool converts_quickly(const ptx::Instruction& instruction, int result_bytes, int source_bytes);

// compare_ops.cpp: setp, set, testp.
// setp compares s[2] with s[3]. s[0] gets the result and s[1] its negation, each combined with s[4] by bool_op, if
// any. For packed floats, s[0] gets the comparison of the lower halves, s[1] that of the upper halves.
Handler compare_handler(const ptx::Instruction& instruction);
Handler set_handler(const ptx::Instruction& instruction);  // s[0] = `offset` if s[1] and s[2] compare true, else 0
Handler number_test_handler(const ptx::Instruction& instruction);  // testp: s[0], s[1]

// Variants that compute lane 0 only, for lockstep code (lockstep.h). nullptr: there is none.
Handler alu_handler_of_lane_0(const ptx::Instruction& instruction);
Handler convert_handler_of_lane_0(const ptx::Instruction& instruction, int result_bytes, int source_bytes);
Handler move_handler_of_lane_0(int size_bytes);
Handler select_handler_of_lane_0(int size_bytes);
Handler compare_handler_of_lane_0(const ptx::Instruction& instruction);
Handler add_offset_handler_of_lane_0(int size_bytes);

// memory_ops.cpp. s[0] to s[3]: the data; s[4]: the address register (kNoSlot: none), to which `offset` is added.
Handler load_handler(const ptx::Instruction& instruction, int register_bytes);
Handler store_handler(const ptx::Instruction& instruction, int register_bytes);
// s[0]: the old value, or kNoSlot; s[1], s[2]: the operands; s[4]: the address.
Handler atomic_handler(const ptx::Instruction& instruction);
// Narrows the lanes of the held load `target` by a predicate, s[0]: it must be true on the ways `count`, false on the
// ways `next_block` (bits). The load's last pick (`speculative`) checks the lanes that want the value on any way.
const Op* op_pick(Launch& launch, Warp& warp, const Op* op);
// Takes up the held load `target` of another block: its lanes that are not checked yet wait for the picks of the held
// load `count` of this block, with the ways `next_block` (bits). No way: they are checked at once.
const Op* op_take_up(Launch& launch, Warp& warp, const Op* op);

// matrix_ops.cpp: all 32 threads of the warp must execute these.
// ldmatrix: s[0] to s[3] are the results, s[4] is the address.
Handler matrix_load_handler(const ptx::Instruction& instruction);
Handler matrix_multiply_handler(const ptx::Instruction& instruction);  // mma; `offset`: index of its first matrix slot

// fragment_ops.cpp: wmma, and the matrix products that matrix_ops.cpp does not cover. For wmma.load and wmma.store, the
// address is s[4], a register of `count` bytes, plus `offset`; s[5] is the stride of rows or columns in elements
// (kNoSlot: contiguous); `target` is the index of the instruction's first matrix slot.
Handler fragment_handler(const ptx::Instruction& instruction);
Handler fragment_multiply_handler(const ptx::Instruction& instruction);  // as matrix_multiply_handler

// async_ops.cpp: cp.async. The global address is s[4] plus `offset`; the shared address is s[5], a register of `count`
// bytes, plus `target` as a signed number. s[0]: the number of bytes to read, or the predicate of lanes that read none;
// kNoSlot: all.
Handler async_copy_handler(const ptx::Instruction& instruction);
// Closes a group of copies, or waits until at most `offset` groups are in flight.
Handler async_group_handler(const ptx::Instruction& instruction);

// warp_ops.cpp: exchanges between lanes, whose last source is the member mask; and queries.
Handler warp_reduce_handler(const ptx::Instruction& instruction);     // redux: s[0], s[1], mask s[2]
Handler warp_match_handler(const ptx::Instruction& instruction);      // match: s[0], s[1] or kNoSlot, s[2], mask s[3]
Handler space_query_handler(const ptx::Instruction& instruction);     // isspacep: s[0], s[1]
Handler clock_handler(ptx::SpecialRegister special, int size_bytes);  // s[0]

// mbarrier_ops.cpp. The address is s[4], a register of `count` bytes, plus `offset`.
Handler mbarrier_handler(const ptx::Instruction& instruction);  // s[0]: the result; s[1]: state, count or parity
Handler mbarrier_arrive_of_copies_handler();                    // cp.async.mbarrier.arrive

// call_ops.cpp: calls of functions in the module (`offset`: index in Program::calls), and of the externs that only
// plans may call.
const Op* op_call(Launch& launch, Warp& warp, const Op* op);
const Op* op_call_pointer(Launch& launch, Warp& warp, const Op* op);  // s[0]: pointer; `offset`: index in call_targets
const Op* op_call_missing(Launch& launch, Warp& warp, const Op* op);  // an extern without an implementation
Error missing_function(std::string_view name);                        // the error of such a call
const Op* op_return(Launch& launch, Warp& warp, const Op* op);
const Op* op_frame_address(Launch& launch, Warp& warp, const Op* op);  // s[0] = Warp::frame + offset
// Called when all lanes of the innermost call have returned. Ends the call or, in a call through a pointer, begins its
// next callee.
void end_call(const Launch& launch, Warp& warp);
const Op* op_call_extern(Launch& launch, Warp& warp, const Op* op);

// print_ops.cpp: vprintf, __assertfail, malloc and free.
const Op* op_print(Launch& launch, Warp& warp, const Op* op);
const Op* op_assertion_failed(Launch& launch, Warp& warp, const Op* op);
const Op* op_allocate(Launch& launch, Warp& warp, const Op* op);
const Op* op_release(Launch& launch, Warp& warp, const Op* op);

}  // namespace roofwalk::vgpu
