#include "tests/random/reference_counts.h"

#include <algorithm>
#include <bit>
#include <set>

#include "tests/random/requests.h"

namespace roofwalk::random {
namespace {

// Counts one pass for each distinct word that the lanes load: 4 bytes, or 8 for 8-byte loads. A load of 16 bytes per
// lane counts as two of 8 bytes.
void count_constants(const Request& request, LineCounts& out) {
  const std::uint64_t width = std::min<std::uint64_t>(request.bytes, 8), word = std::max<std::uint64_t>(width, 4);
  for (std::uint64_t part = 0; part < request.bytes; part += width) {
    std::set<std::uint64_t> words;
    for (const auto& lane : request.lanes) words.insert((lane.address + part) / word);
    ++out.constant_requests;
    out.constant_passes += words.size();
    out.constant_bytes += words.size() * word;
  }
}

void count_side(Do what, Space space, const Request& request, LineCounts& out) {
  const bool is_load = what == Do::load, is_atomic = what == Do::atomic;
  if (space == Space::constant) return count_constants(request, out);
  if (space == Space::shared || space == Space::generic_shared) {
    const Turns turns = shared_turns(request, is_load, is_atomic);
    ++(is_load ? out.shared_load_requests : out.shared_store_requests);
    out.shared_bytes += request.bytes * request.lanes.size();
    out.shared_wavefronts += turns.wavefronts;
    out.shared_bank_conflicts += turns.conflicts;
    return;
  }
  const Footprint footprint = space == Space::local ? local_footprint(request) : global_footprint(request);
  (is_load ? out.l1_read_sectors : out.l1_write_sectors) += footprint.sectors;
  out.l1_lines += footprint.lines;
  if (space == Space::local) {
    out.local_sectors += footprint.sectors;
    if (!is_load) out.local_write_sectors += footprint.sectors;
    return;
  }
  // Side by side, the lanes' bytes would fill this many sectors. Of what several lanes access, each lane has a word.
  std::set<std::uint64_t> addresses;
  for (const auto& lane : request.lanes) addresses.insert(lane.address);
  const std::uint64_t bytes =
      std::max(request.bytes * addresses.size(), std::min<std::uint64_t>(request.bytes, 4) * request.lanes.size());
  const std::uint64_t ideal = std::min<std::uint64_t>(footprint.sectors, (bytes + 31) / 32);
  out.l1_ideal_sectors += ideal;
  if ((is_load || is_atomic) && ideal < footprint.sectors) {
    out.l1_uncoalesced_sectors += footprint.sectors;
    out.l1_uncoalesced_ideal_sectors += ideal;
  }
  if (is_atomic) out.atomic_operations += request.lanes.size();
  ++(is_load ? out.global_load_requests : is_atomic ? out.atomic_requests : out.global_store_requests);
}

// Counts an ldmatrix, which loads a row of 16 bytes for each thread that gives one; the other threads are ignored.
void count_matrices(const Instruction& in, Request request, LineCounts& out) {
  request.lanes.resize(8 * in.results.size());
  const Turns turns = shared_turns(request, false, false);
  ++out.shared_load_requests;
  out.shared_bytes += request.bytes * request.lanes.size();
  out.shared_wavefronts += turns.wavefronts;
  out.shared_bank_conflicts += turns.conflicts;
}

// Counts arrivals at mbarriers: a store, but lanes that arrive at the same one take turns.
void count_arrivals(const Request& request, LineCounts& out) {
  const Turns turns = shared_turns(request, false, true);
  ++out.shared_store_requests;
  out.shared_bytes += request.bytes * request.lanes.size();
  out.shared_wavefronts += turns.wavefronts;
  out.shared_bank_conflicts += turns.conflicts;
}

void count_request(const Instruction& in, const Meeting& meeting, LineCounts& out) {
  const auto request = [&](const std::array<std::uint64_t, kLanes>& address) {
    const std::size_t elements = in.what == Do::load ? in.results.size() : in.what == Do::store ? in.sources.size() : 1;
    Request made{static_cast<std::uint64_t>(in.element_bytes) * elements, {}};
    for (int l = 0; l < kLanes; ++l) {
      if ((meeting.did >> l & 1u) != 0) made.lanes.push_back({l, address[static_cast<std::size_t>(l)]});
    }
    return made;
  };
  switch (in.what) {
    case Do::load:
    case Do::store:
    case Do::atomic:
      return count_side(in.what, in.space, request(meeting.address), out);
    case Do::gate_init:
      return count_side(Do::store, Space::shared, request(meeting.address), out);
    case Do::gate_arrive:
      return count_arrivals(request(meeting.address), out);
    case Do::gate_test:
      return count_side(Do::load, Space::shared, request(meeting.address), out);
    case Do::load_matrices:
      return count_matrices(in, request(meeting.address), out);
    case Do::copy:  // a load from global memory and a store to shared memory
      count_side(Do::load, Space::global, request(meeting.second_address), out);
      return count_side(Do::store, Space::shared, request(meeting.address), out);
    default:
      return;
  }
}

}  // namespace

void count_meeting(const Instruction& in, const Meeting& meeting, bool parts, LineCounts& out) {
  ++out.warp_instructions;
  const bool branches = in.what == Do::branch || in.what == Do::branch_by_index;
  const bool moves_on = branches || in.what == Do::leave || in.what == Do::call;  // all lanes count, whatever the guard
  const auto threads = static_cast<std::uint64_t>(std::popcount(moves_on ? meeting.came : meeting.did));
  out.thread_instructions += threads;
  if (in.what == Do::barrier || in.what == Do::barrier_reduce || in.what == Do::meet) ++out.barriers;
  if (branches) {
    ++out.branches;
    out.divergent_branches += parts;
  }
  if (in.what == Do::form && in.form->flops != 0) {
    std::uint64_t& flops = in.form->flops_of == Flops::f16   ? out.flops_f16
                           : in.form->flops_of == Flops::f32 ? out.flops_f32
                                                             : out.flops_f64;
    flops += threads * static_cast<std::uint64_t>(in.form->flops);
    if (in.form->special_function) out.special_functions += threads;
  }
  if (in.what == Do::multiply_matrices) {
    const bool of_integers = in.shape->factor == MatrixShape::Factor::s8;
    (of_integers ? out.tensor_integer_operations : out.flops_tensor) +=
        static_cast<std::uint64_t>(in.shape->operations());
  }
  if (in.what == Do::atomic && in.name.find(".f") != std::string::npos) out.atomic_flops += threads;
  if (meeting.did != 0) count_request(in, meeting, out);
}

}  // namespace roofwalk::random
