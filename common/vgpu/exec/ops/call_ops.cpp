// Calls. The calling lanes run a function of the module: they get a reconvergence stack of their own on top of the
// warp's, and continue after the call when all of them have returned. A recursive call saves the registers of the
// activations in progress and keeps its local memory on a stack. In a call through a pointer, lanes may call
// different functions: these run one after the other, each for its own lanes, and all results are delivered at the
// end.
//
// Externs other than printf and assert (print_ops.cpp) are called only by plans, one thread at a time, and executed by
// Launch::call_hook.
#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "common/vgpu/exec/ops/handlers.h"
#include "common/vgpu/program/names.h"
#include "common/vgpu/requests/local_memory.h"
#include "common/vgpu/state/work.h"

namespace roofwalk::vgpu {
namespace {

// Limit of nested calls. Functions without local memory have no other limit.
constexpr std::size_t kMostFrames = 1024;
// Limits of the host memory for the open recursive calls of all SMs; an SM may use `kSavedBytesOfSm` in any case.
constexpr std::uint64_t kSavedBytes = 1 << 30, kSavedBytesOfSm = 16 << 20;

std::uint8_t* local_byte(const Warp& warp, int lane, std::uint32_t offset) {
  return &warp.local[(offset / 4 * kWarpSize + static_cast<std::uint32_t>(lane)) * 4 + offset % 4];
}

std::uint8_t byte_of(const Warp& warp, const CallSite::Place& place, int lane, std::uint32_t byte) {
  if (place.slot == kNoSlot) return *local_byte(warp, lane, place.local + byte);
  return warp.lanes<std::uint8_t>(place.slot)[static_cast<std::uint32_t>(lane) * place.bytes + byte];
}

void put_byte(Warp& warp, const CallSite::Place& place, int lane, std::uint32_t byte, std::uint8_t value) {
  if (place.slot == kNoSlot) {
    *local_byte(warp, lane, place.local + byte) = value;
  } else {
    warp.lanes<std::uint8_t>(place.slot)[static_cast<std::uint32_t>(lane) * place.bytes + byte] = value;
  }
}

// Of a byte of local memory: the bits that nobody has set (state/unset_values.h).
std::uint8_t& unset_byte(Warp& warp, int lane, std::uint32_t offset) {
  return warp.local_unset[std::size_t{offset} * kWarpSize + static_cast<std::size_t>(lane)];
}

// Reads all sources before write_values() overwrites a target: a recursive function may pass its own parameters as
// arguments.
PassedValues read_values(Warp& warp, const std::vector<std::pair<CallSite::Place, CallSite::Place>>& copies,
                         std::uint32_t lanes) {
  PassedValues out;
  for (const auto& [from, to] : copies) {
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      for (std::uint32_t b = 0; b < from.bytes; ++b) {
        out.bytes.push_back(byte_of(warp, from, lane, b));
        if (warp.local_unset.empty()) continue;
        out.unset.push_back(from.slot == kNoSlot ? unset_byte(warp, lane, from.local + b) : std::uint8_t{0});
      }
    }
  }
  return out;
}

void write_values(Warp& warp, const std::vector<std::pair<CallSite::Place, CallSite::Place>>& copies,
                  std::uint32_t lanes, const PassedValues& values) {
  std::size_t at = 0;
  for (const auto& [from, to] : copies) {
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      for (std::uint32_t b = 0; b < from.bytes; ++b, ++at) {
        if (b >= to.bytes) continue;
        put_byte(warp, to, lane, b, values.bytes[at]);
        if (warp.local_unset.empty() || to.slot != kNoSlot) continue;
        unset_byte(warp, lane, to.local + b) = values.unset.empty() ? std::uint8_t{0} : values.unset[at];
      }
    }
  }
}

const Op* overflow(Launch& launch, const Warp& warp, const Op* op, std::uint32_t lanes) {
  const std::size_t deep = warp.frames.size();
  return launch.stop(
      warp, op, FaultKind::stack_overflow, std::countr_zero(lanes),
      fmt::format("stack overflow: {} calls are open inside each other, and a thread's stack of {} bytes "
                  "is full: does the recursion end? A loop needs no stack",
                  deep, kStackBytes));
}

// In the innermost call, starts the callee whose turn it is (a call through a pointer may have several), for the lanes
// that call it.
void enter_function(const Launch& launch, Warp& warp) {
  const CallFrame& frame = warp.frames.back();
  const CallSite& site = *frame.now.site;
  const PassedValues values = read_values(warp, site.arguments, frame.now.lanes);
  if (site.recursive) {
    warp.frame = warp.stack_top;
    warp.stack_top += site.frame_bytes;
    forget_local(launch, warp, warp.frame, site.frame_bytes);
    // Former calls have left something there that a call must not take for its own.
    for (std::uint32_t left = frame.now.lanes; left != 0; left &= left - 1) {
      for (std::uint32_t b = 0; b < site.frame_bytes; ++b)
        *local_byte(warp, std::countr_zero(left), warp.frame + b) = 0xff;
    }
  }
  write_values(warp, site.arguments, frame.now.lanes, values);
  warp.stack.push_back({frame.now.lanes, frame.now.block, kExitBlock});
  warp.here = warp.mask = frame.now.lanes;
}

// Saves the caller's registers and parameters. Returns whether the warp's SM has room for them.
bool save_caller(Launch& launch, Warp& warp, CallFrame& frame) {
  Multiprocessor& sm = *launch.sm;
  const std::uint64_t limit = std::max(kSavedBytes / static_cast<std::uint64_t>(launch.machine.sms), kSavedBytesOfSm);
  const std::size_t parameter_bytes = std::size_t{launch.program.parameter_bytes} * kWarpSize;
  if (warp.unset != nullptr) frame.unset_bytes = warp.unset->registers.size() * sizeof(UnsetRegister);
  if (!warp.local_unset.empty()) frame.unset_bytes += parameter_bytes;
  if (sm.saved_bytes + launch.program.register_bytes + parameter_bytes + frame.unset_bytes > limit) return false;
  frame.registers.assign(warp.bases[0], warp.bases[0] + launch.program.register_bytes);
  frame.parameters.assign(warp.local, warp.local + parameter_bytes);
  if (warp.unset != nullptr) {
    frame.unset = std::make_shared<const UnsetValues>(*warp.unset);
    ++warp.unset->kept;
  }
  if (!warp.local_unset.empty())
    frame.parameters_unset.assign(warp.local_unset.begin(),
                                  warp.local_unset.begin() + static_cast<std::ptrdiff_t>(parameter_bytes));
  sm.saved_bytes += frame.saved_bytes();
  launch.charge(frame.saved_bytes() / work::kSavedBytes);
  return true;
}

const Op* too_much_saved(Launch& launch, const Warp& warp, const Op* op, std::uint32_t lanes) {
  return launch.stop(
      warp, op, FaultKind::resource, std::countr_zero(lanes),
      fmt::format("the virtual GPU cannot keep the registers of more recursive calls than are open now, {} of them in "
                  "this warp: recurse less deeply, from fewer threads, or use a loop",
                  warp.frames.size()));
}

// Begins the call that `frame` describes. `lanes`: all calling lanes.
const Op* begin_call(Launch& launch, Warp& warp, const Op* op, CallFrame frame, std::uint32_t lanes) {
  bool recursive = frame.now.site->recursive;
  std::uint32_t frame_bytes = frame.now.site->frame_bytes;
  for (const CallWay& way : frame.ahead) {
    recursive = recursive || way.site->recursive;
    frame_bytes = std::max(frame_bytes, way.site->frame_bytes);
  }
  const bool full = recursive && warp.stack_top + frame_bytes > launch.program.local_bytes;
  if (full || warp.frames.size() >= kMostFrames) return overflow(launch, warp, op, lanes);
  frame.depth = warp.stack.size();
  frame.caller_lanes = warp.here;
  frame.caller_frame = warp.frame;
  if (recursive && !save_caller(launch, warp, frame)) return too_much_saved(launch, warp, op, lanes);
  warp.stack.back().block = op->next_block;
  warp.frames.push_back(std::move(frame));
  enter_function(launch, warp);
  if (recursive)
    launch.sm->deepest_calls = std::max(launch.sm->deepest_calls, static_cast<std::uint32_t>(warp.frames.size()));
  return enter_block(launch, warp, warp.stack.back().block);
}

std::string no_such_function(const Program& program, std::uint64_t pointer) {
  if (pointer == 0)
    return "a call through a null pointer: no function was stored in it; which thread, or which launch, should have?";
  const auto known = program.function_names.find(pointer);
  if (known != program.function_names.end()) {
    return fmt::format(
        "a call through a pointer to {}, which takes other parameters, or returns another type, than this call expects",
        display_name(known->second));
  }
  return fmt::format(
      "a call through the pointer {:#x}, where no function begins: was it set, and is the object that "
      "holds it, or whose virtual function this is, still there?",
      pointer);
}

}  // namespace

const Op* op_call(Launch& launch, Warp& warp, const Op* op) {
  const std::uint32_t lanes = warp.mask & guard_mask(warp, op);
  if (lanes == 0) return enter_block(launch, warp, op->next_block);
  const CallSite& site = launch.program.calls[static_cast<std::size_t>(op->offset)];
  CallFrame frame;
  frame.now = {&site, lanes, op->target};
  return begin_call(launch, warp, op, std::move(frame), lanes);
}

// Lanes with the same callee call it together; the callees run one after the other.
const Op* op_call_pointer(Launch& launch, Warp& warp, const Op* op) {
  const std::uint32_t lanes = warp.mask & guard_mask(warp, op);
  if (lanes == 0) return enter_block(launch, warp, op->next_block);
  const std::vector<CallTarget>& targets = launch.program.call_targets[static_cast<std::size_t>(op->offset)];
  const std::uint64_t* pointer = warp.lanes<std::uint64_t>(op->s[0]);
  std::vector<CallWay> ways;
  for (std::uint32_t left = lanes; left != 0;) {
    const int lane = std::countr_zero(left);
    const auto target =
        std::find_if(targets.begin(), targets.end(), [&](const CallTarget& t) { return t.number == pointer[lane]; });
    if (target == targets.end())
      return launch.stop(warp, op, FaultKind::bad_call, lane, no_such_function(launch.program, pointer[lane]));
    std::uint32_t same = 0;
    for (std::uint32_t rest = left; rest != 0; rest &= rest - 1) {
      if (pointer[std::countr_zero(rest)] == pointer[lane]) same |= rest & (0 - rest);
    }
    ways.push_back({&launch.program.calls[target->site], same, target->block});
    left &= ~same;
  }
  if (ways.size() > 1) ++launch.sites[op->pc].divergent;
  CallFrame frame;
  frame.now = std::move(ways.front());
  frame.ahead.assign(ways.rbegin(), ways.rend() - 1);
  return begin_call(launch, warp, op, std::move(frame), lanes);
}

namespace {

// Marks the caller's registers and parameters again that held values that nobody has set.
void restore_unset(const Launch& launch, Warp& warp, const CallFrame& frame) {
  if (frame.unset != nullptr) {
    UnsetValues& now = unset_values(launch, warp);
    now.registers = frame.unset->registers;
    --now.kept;
  } else if (warp.unset != nullptr) {
    warp.unset->registers.clear();
  }
  if (warp.local_unset.empty()) return;
  const auto bytes = static_cast<std::ptrdiff_t>(launch.program.parameter_bytes) * kWarpSize;
  std::fill_n(warp.local_unset.begin(), bytes, std::uint8_t{0});
  std::copy(frame.parameters_unset.begin(), frame.parameters_unset.end(), warp.local_unset.begin());
}

}  // namespace

void end_call(const Launch& launch, Warp& warp) {
  CallFrame& frame = warp.frames.back();
  const CallSite& site = *frame.now.site;
  frame.now.results = read_values(warp, site.results, frame.now.lanes);
  if (site.recursive) {
    std::copy(frame.registers.begin(), frame.registers.end(), warp.bases[0]);
    std::copy(frame.parameters.begin(), frame.parameters.end(), warp.local);
    restore_unset(launch, warp, frame);
    warp.stack_top = warp.frame;
    warp.frame = frame.caller_frame;
  }
  frame.done.push_back(std::move(frame.now));
  if (!frame.ahead.empty()) {
    frame.now = std::move(frame.ahead.back());
    frame.ahead.pop_back();
    return enter_function(launch, warp);
  }
  const CallFrame ended = std::move(frame);
  warp.frames.pop_back();
  launch.sm->saved_bytes -= ended.saved_bytes();
  for (const CallWay& way : ended.done) write_values(warp, way.site->results, way.lanes, way.results);
  warp.here = ended.caller_lanes;
}

Error missing_function(std::string_view name) {
  if (name == "malloc" || name == "free") {
    return {
        .message =
            fmt::format("`{}`: the virtual GPU has no heap for `new`, `delete`, `malloc` and `free` in kernels", name),
        .advice = "let SOLVE make the memory with scratch<T>(count) and pass it on, or use a local or a shared array"};
  }
  if (name.starts_with("__cudaCDP2")) {
    return {
        .message = fmt::format("`{}`: on the virtual GPU, kernels launch no kernels and call nothing else of CUDA's "
                               "runtime (dynamic parallelism)",
                               name),
        .advice = "launch from the host"};
  }
  return {
      .message = fmt::format("a call of `{}`, which is defined nowhere and which the virtual GPU does not have", name),
      .advice = "of CUDA's own functions, kernels can call printf and assert"};
}

const Op* op_call_missing(Launch& launch, Warp& warp, const Op* op) {
  const Error error = missing_function(op->instruction->operands[0].symbol);
  return launch.stop(warp, op, FaultKind::unsupported, -1, fmt::format("{}: {}", error.message, error.advice));
}

const Op* op_return(Launch& launch, Warp& warp, const Op* op) {
  const std::uint32_t leaving = warp.mask & guard_mask(warp, op);
  warp.here &= ~leaving;
  if (leaving != warp.mask) {
    warp.mask &= ~leaving;
    return op + 1;
  }
  return go_on(launch, warp);
}

const Op* op_frame_address(Launch&, Warp& warp, const Op* op) {
  const std::uint64_t at = warp.frame + static_cast<std::uint64_t>(op->offset);
  for (int l = 0; l < kWarpSize; ++l) {
    if ((warp.mask >> l & 1u) == 0) continue;
    if (op->count == 8) {
      warp.lanes<std::uint64_t>(op->s[0])[l] = at;
    } else {
      warp.lanes<std::uint32_t>(op->s[0])[l] = static_cast<std::uint32_t>(at);
    }
  }
  return op + 1;
}

namespace {

// Stores what an extern function hands back through a pointer. False if the pointer leads to no variable of the caller.
bool store_answer(const Launch& launch, Warp& warp, int lane, const CallAnswer::Store& store) {
  const std::uint64_t offset = store.address - kLocalWindow;
  if (store.address < kLocalWindow || offset % 4 != 0 || offset + 4 > launch.program.local_bytes) return false;
  std::memcpy(local_byte(warp, lane, static_cast<std::uint32_t>(offset)), &store.value, sizeof store.value);
  return true;
}

}  // namespace

const Op* op_call_extern(Launch& launch, Warp& warp, const Op* op) {
  const ptx::Instruction& in = *op->instruction;
  const int lane = std::countr_zero(warp.mask);
  std::vector<std::vector<std::uint8_t>> arguments;
  for (const ptx::Operand& argument : in.call_arguments) {
    const auto it = launch.program.locals.find(argument.symbol);
    std::vector<std::uint8_t>& bytes = arguments.emplace_back();
    if (it == launch.program.locals.end()) continue;
    for (std::uint32_t i = 0; i < it->second.second; ++i)
      bytes.push_back(*local_byte(warp, lane, it->second.first + i));
  }
  const auto answer = launch.call_hook(in, arguments);
  if (!answer) {
    launch.refusal = answer.error();
    launch.fault_pc = op->pc;
    return nullptr;
  }
  if (answer->store && !store_answer(launch, warp, lane, *answer->store)) {
    return launch.stop(warp, op, FaultKind::bad_call, lane,
                       "solve hands a function of CUDA's a pointer that leads to no local variable of solve's");
  }
  // The call may have released or created buffers, which invalidates the memos of all instructions.
  std::fill(launch.buffer_memos.begin(), launch.buffer_memos.end(), BufferMemo{});
  if (!in.call_results.empty()) {
    if (const auto it = launch.program.locals.find(in.call_results[0].symbol); it != launch.program.locals.end()) {
      std::uint8_t bytes[8];
      std::memcpy(bytes, &answer->result, sizeof bytes);
      for (std::uint32_t i = 0; i < it->second.second && i < 8; ++i)
        *local_byte(warp, lane, it->second.first + i) = bytes[i];
    }
  }
  return op + 1;
}

}  // namespace roofwalk::vgpu
