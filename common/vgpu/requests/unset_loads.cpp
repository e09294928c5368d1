#include "common/vgpu/requests/unset_loads.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "common/vgpu/requests/shared_memory.h"

namespace roofwalk::vgpu {
namespace {

std::string unset_message(const Launch& launch, const UnsetOrigin& from, const char* verb) {
  const char* const stored = ", where a value was stored that had never been set: give it one first";
  if (from.where == UnsetOrigin::Where::local) {
    return fmt::format("uninitialized: reads {} bytes of a local array (byte {} of the thread's local memory){}",
                       from.bytes, from.offset,
                       from.is_copy ? stored : " that the thread has not written: give it a value first");
  }
  if (from.where == UnsetOrigin::Where::other_lane) {
    const Dim3 other = launch.thread_of(static_cast<std::uint32_t>(from.offset));
    return fmt::format(
        "uninitialized: uses what __shfl_..._sync() gets from thread ({}, {}, {}), which does not exchange "
        "with the mask 0x{:x}: name all threads in one mask that read from each other",
        other.x, other.y, other.z, from.offset >> 32);
  }
  if (from.where == UnsetOrigin::Where::ended_lane) {
    return fmt::format(
        "uninitialized: uses what __shfl_..._sync() gets from lane {} of its warp, which has ended or never was: read "
        "only from threads that still run",
        from.offset % kWarpSize);
  }
  if (from.where == UnsetOrigin::Where::unwritten_register) {
    return "uninitialized: uses a variable, or a register of inline PTX, to which nothing has been assigned on this "
           "way: give it a value first";
  }
  if (from.where == UnsetOrigin::Where::global) {
    const Buffer* const buffer = launch.memory.find(from.offset);
    return fmt::format("uninitialized: {} {}[{}]{}", verb, buffer->name,
                       (from.offset - buffer->address) / buffer->element_bytes,
                       from.is_copy ? stored : ", a part of which nothing has written: memory is not zero by itself");
  }
  return fmt::format("uninitialized: {} {}, shared memory{}", verb,
                     shared_place(launch.program, *from.load->instruction, from.offset),
                     from.is_copy ? stored
                                  : " that no thread of the block has written: is a barrier missing, or an edge not "
                                    "filled?");
}

bool is_of_shuffle(const UnsetOrigin& from) {
  return from.where == UnsetOrigin::Where::other_lane || from.where == UnsetOrigin::Where::ended_lane;
}

// Of a value that was stored where it has been found: the store, if the value came from a shuffle.
std::optional<Launch::UnsetStore> shuffled_before(const Launch& launch, const UnsetOrigin& from) {
  if (!from.is_copy) return std::nullopt;
  if (from.where == UnsetOrigin::Where::shared)
    return launch.unset_shared && launch.unset_shared->is_shuffled ? launch.unset_shared : std::nullopt;
  if (from.where != UnsetOrigin::Where::global) return std::nullopt;
  const int buffer = launch.memory.find(from.offset)->id;
  const auto found = launch.unset_stores.find(buffer);
  if (found != launch.unset_stores.end())
    return found->second.is_shuffled ? std::optional(found->second) : std::nullopt;
  if (!launch.shuffled_earlier.contains(buffer)) return std::nullopt;
  return Launch::UnsetStore{.pc = from.load->pc, .is_shuffled = true, .earlier = buffer};
}

}  // namespace

void report_unset(Launch& launch, const Warp& warp, const UnsetOrigin& from, const char* verb) {
  if (launch.fault) return;
  if (const auto store = shuffled_before(launch, from)) {
    launch.fault = store->fault;
    launch.fault_pc = store->pc;
    launch.read_unset_from = store->earlier;
    return;
  }
  launch.stop(warp, from.load, FaultKind::uninitialized, from.lane, unset_message(launch, from, verb));
  if (from.where == UnsetOrigin::Where::local) launch.fault->buffer = "local memory";
}

std::size_t part_count(const ptx::Instruction& in) {
  const ptx::Operand& data = in.operands[ptx::info(in.opcode).form == ptx::Form::store ? 1 : 0];
  return data.kind == ptx::Operand::Kind::vector ? std::min(data.elements.size(), UnsetValues::kMostParts) : 1;
}

UnsetValues& unset_values(const Launch& launch, Warp& warp) {
  if (warp.unset == nullptr) {
    warp.unset = std::make_shared<UnsetValues>();
    warp.unset->detour.run = launch.follow_unset;
  }
  return *warp.unset;
}

const Op* mark_unset(const Launch& launch, Warp& warp, const Op* op, const Access& access, const PartBits& unset,
                     UnsetOrigin::Where where, const Op* next) {
  const ptx::Instruction& in = *op->instruction;
  const ptx::Operand& data = in.operands[0];
  const std::size_t bits = 8 * access.bytes / part_count(in);
  for (std::size_t part = 0; part < part_count(in); ++part) {
    const int reg = data.kind == ptx::Operand::Kind::vector ? data.elements[part].index : data.index;
    if (reg < 0) continue;
    for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      std::uint64_t own = unset[part][static_cast<std::size_t>(lane)];
      if (own == 0) continue;
      // A narrow load of a signed number repeats the sign.
      if (ptx::is_signed(in.type) && bits < 64 && (own >> (bits - 1) & 1u) != 0) own |= ~0ull << bits;
      unset_values(launch, warp)
          .registers[reg]
          .put(lane, own, origin_of(access, op, lane, where, (unset.copied >> lane & 1u) != 0));
    }
  }
  return detour_if_unset(warp, next);
}

Launch::UnsetStore unset_store(const Launch& launch, const Warp& warp, const UnsetOrigin& from) {
  if (const auto before = shuffled_before(launch, from)) return *before;
  return {from.load->pc,
          launch.fault_at(warp, FaultKind::uninitialized, from.lane, unset_message(launch, from, "reads")),
          is_of_shuffle(from)};
}

bool has_shuffled(const Launch& launch, const UnsetOrigin& from) {
  return is_of_shuffle(from) || shuffled_before(launch, from).has_value();
}

void store_unset_global(Launch& launch, const Warp& warp, const Op* op, const Access& access) {
  const std::size_t bytes = access.bytes / part_count(*op->instruction);
  for (std::size_t part = 0; part < warp.unset->stored.size(); ++part) {
    const UnsetRegister& stored = warp.unset->stored[part];
    for (std::uint32_t left = access.mask & stored.lanes(); left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      const std::uint64_t address = access.of(lane) + part * bytes;
      launch.memory.leave_unset(address, bytes, stored.bits(lane));
      const int buffer = launch.memory.find(address)->id;
      const UnsetOrigin& from = stored.from(lane);
      // Structures that are copied as a whole have gaps.
      if (from.where == UnsetOrigin::Where::global && launch.memory.keeps_undefined()) continue;
      if (const auto first = launch.unset_stores.find(buffer); first == launch.unset_stores.end()) {
        launch.unset_stores.emplace(buffer, unset_store(launch, warp, from));
      } else {
        first->second.is_shuffled = first->second.is_shuffled && has_shuffled(launch, from);
      }
    }
  }
}

bool find_unset_global(Launch& launch, Warp& warp, const Op* op, const Access& access, const char* verb) {
  const ptx::Instruction& in = *op->instruction;
  const ptx::Form form = ptx::info(in.opcode).form;
  if (form == ptx::Form::async_copy) return true;
  const bool carries = form == ptx::Form::load;
  const std::size_t parts = carries ? part_count(in) : 1, bytes = access.bytes / parts;
  PartBits unset;
  for (std::size_t part = 0; part < parts; ++part) {
    for (int lane = 0; lane < kWarpSize; ++lane) {
      std::uint64_t& bits = unset[part][static_cast<std::size_t>(lane)] = 0;
      if ((access.mask >> lane & 1u) == 0) continue;
      const std::uint64_t first = access.of(lane) + part * bytes;
      for (std::size_t b = 0; b < bytes; b += 8) {
        const std::size_t count = std::min<std::size_t>(bytes - b, 8);
        const std::uint64_t stored = launch.memory.unset_bits(first + b, count);
        if (stored != 0) unset.copied |= 1u << lane;
        // What else copies is asked only for one byte that has been written, as a structure may hold others.
        bits |= stored | (carries ? launch.memory.undefined_bits(first + b, count) : 0);
      }
      if (bits == 0 || carries) continue;
      report_unset(launch, warp, origin_of(access, op, lane, UnsetOrigin::Where::global, true), verb);
      return false;
    }
  }
  if (carries) mark_unset(launch, warp, op, access, unset, UnsetOrigin::Where::global, nullptr);
  return true;
}

}  // namespace roofwalk::vgpu
