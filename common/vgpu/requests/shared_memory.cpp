#include "common/vgpu/requests/shared_memory.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "common/vgpu/program/names.h"

namespace roofwalk::vgpu {
namespace {

constexpr int kBanks = 32;

bool active(const Access& access, int lane) { return (access.mask >> lane & 1u) != 0; }

// Returns the largest number of words that lanes [first, last) access in one bank. A word that several lanes access
// counts once, unless `each`.
int bank_wavefronts(const Access& access, int first, int last, bool each) {
  int turns[kBanks] = {};
  int most = 0;
  std::uint64_t words[kWarpSize * 4];
  int count = 0;
  const std::uint64_t parts = std::max<std::uint64_t>(access.bytes / 4, 1);
  for (int l = first; l < last; ++l) {
    if (!active(access, l)) continue;
    for (std::uint64_t part = 0; part < parts; ++part) {
      const std::uint64_t word = access.address[l] / 4 + part;
      if (!each) {
        if (std::find(words, words + count, word) != words + count) continue;
        words[count++] = word;
      }
      most = std::max(most, ++turns[word % kBanks]);
    }
  }
  return most;
}

// Returns the largest number of active lanes whose words are in one bank, for at most 4 bytes per lane.
int turns_one_by_one(const Access& access) {
  std::uint32_t turns[kBanks] = {};
  std::uint32_t most = 0;
  for (int l = 0; l < kWarpSize; ++l) {
    std::uint32_t& of_bank = turns[access.address[l] / 4 % kBanks];
    of_bank += access.mask >> l & 1u;
    most = std::max(most, of_bank);
  }
  return static_cast<int>(most);
}

// Returns the largest number of different words that active lanes want in one bank, for at most 4 bytes per lane.
int turns_of_words(const Access& access) {
  constexpr int kNone = -1;
  int last[kBanks];        // by bank: the last lane that wanted a word as the first one
  int before[kWarpSize];   // by such a lane: the one before it of its bank
  int words[kBanks] = {};  // by bank
  int most = 0;
  std::fill(last, last + kBanks, kNone);
  for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
    const int l = std::countr_zero(left);
    const std::uint64_t word = access.address[l] / 4, bank = word % kBanks;
    int other = last[bank];
    while (other != kNone && access.address[other] / 4 != word) other = before[other];
    if (other != kNone) continue;
    before[l] = std::exchange(last[bank], l);
    most = std::max(most, ++words[bank]);
  }
  return most;
}

struct Turns {
  std::uint16_t wavefronts, conflicts;
};

// Whether every active lane l has the same address as lane l ^ step, unless that lane is inactive.
bool in_pairs(const Access& access, int step) {
  for (int l = 0; l < kWarpSize; ++l) {
    if (active(access, l) && active(access, l ^ step) && access.address[l] != access.address[l ^ step]) return false;
  }
  return true;
}

Turns turns_of(const Access& access, SharedUse use) {
  if ((use == SharedUse::atomic && access.bytes <= 4) || use == SharedUse::counting) {
    const int turns = use == SharedUse::counting ? turns_of_words(access) : turns_one_by_one(access);
    return {static_cast<std::uint16_t>(turns), static_cast<std::uint16_t>(turns - 1)};
  }
  int lanes = access.bytes <= 4 ? 32 : access.bytes == 8 ? 16 : 8;  // lanes per phase
  if (lanes < 32 && use == SharedUse::load && (in_pairs(access, 1) || in_pairs(access, 2))) lanes *= 2;
  const bool each = use == SharedUse::atomic;
  int wavefronts = 0, phases = 0;
  for (int first = 0; first < kWarpSize; first += lanes) {
    const int turns = bank_wavefronts(access, first, first + lanes, each);
    wavefronts += turns;
    phases += turns != 0;
  }
  return {static_cast<std::uint16_t>(wavefronts), static_cast<std::uint16_t>(wavefronts - phases)};
}

// Returns the turns of the machine access that performs a PTX access: none if it counts at another PTX instruction.
Turns turns_of_machine_access(const Program& program, std::uint32_t pc, const Access& access, SharedUse use) {
  const SharedAccess machine = program.shared_access(pc);
  if (machine.is_merged()) return {0, 0};
  if (machine.bytes == 0) return turns_of(access, use);
  Access wide = access;
  wide.bytes = machine.bytes;
  for (std::uint64_t& address : wide.address) address -= machine.before;
  return turns_of(wide, use);
}

std::uint32_t bytes_of_lanes(const Access& access) {
  return static_cast<std::uint32_t>(std::popcount(access.mask)) * access.bytes;
}

// Counts an access whose machine access reaches into several iterations of a loop.
void count_across_iterations(Launch& launch, const Warp& warp, const Op* op, const Access& access, SharedUse use,
                             const SharedAccess& machine) {
  const auto lane = static_cast<std::size_t>(std::countr_zero(access.mask | 1u << (kWarpSize - 1)));
  const std::uint64_t address = access.address[lane];
  Turns turns{0, 0};
  std::uint32_t requests = 0;
  if (machine.is_performed_at(address)) {
    turns = turns_of_machine_access(launch.program, op->pc, access, use);
    requests = 1;
    if (machine.is_repeated_at(address)) {
      const Turns more = turns_of(access, use);
      turns.wavefronts = static_cast<std::uint16_t>(turns.wavefronts + more.wavefronts);
      turns.conflicts = static_cast<std::uint16_t>(turns.conflicts + more.conflicts);
      requests = 2;
    }
  }
  add_shared_wavefronts(launch, warp, op, bytes_of_lanes(access), turns.wavefronts, turns.conflicts, requests);
}

}  // namespace

bool resolve_shared(Launch& launch, const Warp& warp, const Op* op, Access& access, const char* verb, Pointers& out) {
  if (access.low >= kSharedWindow) {
    for (std::uint64_t& address : access.address) address -= kSharedWindow;
    access.low -= kSharedWindow;
    access.high -= kSharedWindow;
  }
  const std::uint64_t extent = launch.program.shared_bytes;
  // Written so that 64-bit addresses at the end of the address space do not wrap around.
  const auto inside = [&](std::uint64_t address) { return address < extent && access.bytes <= extent - address; };
  for (int l = 0; l < kWarpSize; ++l) {
    if (inside(access.high)) break;
    if (!active(access, l) || inside(access.address[l])) continue;
    launch.stop(warp, op, FaultKind::out_of_bounds, l,
                fmt::format("out of bounds: {} {}, which is outside: the block has {} bytes of shared memory", verb,
                            shared_place(launch.program, *op->instruction, access.address[l]), extent));
    launch.fault->buffer = "shared memory";
    launch.fault->index = static_cast<std::int64_t>(access.address[l]);
    launch.fault->extent = extent;
    return false;
  }
  std::uint64_t bits = 0;
  for (const std::uint64_t address : access.address) bits |= address;
  if ((bits & (access.bytes - 1)) != 0) {
    for (int l = 0; l < kWarpSize; ++l) {
      if (!active(access, l) || access.address[l] % access.bytes == 0) continue;
      launch.stop(warp, op, FaultKind::misaligned, l,
                  fmt::format("misaligned: {} {} bytes at byte {} of shared memory, which is not a multiple of {}",
                              verb, access.bytes, access.address[l], access.bytes));
      launch.fault->buffer = "shared memory";
      return false;
    }
  }
  out.base = warp.block->shared.data();
  out.low_address = 0;
  return true;
}

void count_shared(Launch& launch, const Warp& warp, const Op* op, const Access& access, SharedUse use) {
  if (!launch.counts) return;
  const std::uint32_t bytes = bytes_of_lanes(access);
  if (use == SharedUse::atomic) {
    const bool counts_lanes = launch.program.shared_access(op->pc).counts_lanes;
    const Turns turns = turns_of(access, counts_lanes ? SharedUse::counting : use);
    return add_shared_wavefronts(launch, warp, op, bytes, turns.wavefronts, turns.conflicts, 1);
  }
  // Adding a constant to all addresses rotates the banks but does not change conflicts. So the result for the last
  // pattern of relative addresses usually still holds.
  const SharedAccess machine = launch.program.shared_access(op->pc);
  if (machine.iterations > 1) return count_across_iterations(launch, warp, op, access, use, machine);
  SharedMemo& memo = launch.shared_memos[op->pc];
  const std::uint64_t first = access.address[0];
  std::uint32_t differs = memo.mask ^ access.mask;
  for (int l = 0; l < kWarpSize; ++l)
    differs |= memo.relative[l] ^ static_cast<std::uint32_t>(access.address[l] - first);
  // Accesses of less than 4 bytes share words, so for them the offset within a word matters, too.
  if (differs != 0 || access.bytes < 4 || memo.mask == 0) {
    const Turns turns = turns_of_machine_access(launch.program, op->pc, access, use);
    memo.mask = access.mask;
    memo.wavefronts = turns.wavefronts;
    memo.conflicts = turns.conflicts;
    for (int l = 0; l < kWarpSize; ++l) memo.relative[l] = static_cast<std::uint32_t>(access.address[l] - first);
  }
  add_shared_wavefronts(launch, warp, op, bytes, memo.wavefronts, memo.conflicts, machine.is_merged() ? 0 : 1);
}

std::uint32_t shared_word_bytes(const ptx::Function& function) {
  std::uint32_t bytes = 4;
  for (const ptx::Instruction& in : function.instructions) {
    const bool reaches = in.space == ptx::Space::shared || in.space == ptx::Space::generic;
    const ptx::Form form = ptx::info(in.opcode).form;
    const bool moves = form == ptx::Form::load || form == ptx::Form::store || form == ptx::Form::fragment_load ||
                       form == ptx::Form::fragment_store || form == ptx::Form::atomic;
    if (!reaches || !moves) continue;
    bytes = std::min(bytes, static_cast<std::uint32_t>(std::max(ptx::size_bytes(in.type), 1)));
  }
  return bytes;
}

std::string shared_place(const Program& program, const ptx::Instruction& in, std::uint64_t byte) {
  // A negative index wraps around, so the offset is signed.
  const auto at = static_cast<std::int64_t>(static_cast<std::int32_t>(byte));
  if (program.shared_variables.empty()) return fmt::format("byte {} of shared memory", at);
  auto variable = program.shared_variables.upper_bound(static_cast<std::uint32_t>(std::max<std::int64_t>(at, 0)));
  if (variable != program.shared_variables.begin()) --variable;
  const std::string name = display_name(variable->second);
  const std::size_t scope = name.rfind("::");
  const std::string shown = scope == std::string::npos ? name : name.substr(scope + 2);
  const std::int64_t offset = at - variable->first;
  // PTX declares arrays as bytes, so the element size is taken from the instruction. An asynchronous copy moves several
  // elements.
  const bool is_copy = ptx::info(in.opcode).form == ptx::Form::async_copy;
  const std::int64_t element = is_copy ? shared_word_bytes(*program.function) : std::max(ptx::size_bytes(in.type), 1);
  if (element == 1 || offset % element != 0) return fmt::format("byte {} of {}", offset, shown);
  return fmt::format("element {} of {}", offset / element, shown);
}

}  // namespace roofwalk::vgpu
