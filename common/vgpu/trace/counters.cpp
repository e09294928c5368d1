#include "common/vgpu/trace/counters.h"

namespace roofwalk::vgpu {

void InstructionCounters::add(const InstructionCounters& other) {
  requests += other.requests;
  sectors += other.sectors;
  lines += other.lines;
  hit_sectors += other.hit_sectors;
  ideal_sectors += other.ideal_sectors;
  uncoalesced_sectors += other.uncoalesced_sectors;
  uncoalesced_ideal_sectors += other.uncoalesced_ideal_sectors;
  l2_read_sectors += other.l2_read_sectors;
  l2_write_sectors += other.l2_write_sectors;
  l2_hit_sectors += other.l2_hit_sectors;
  served_by_l1 += other.served_by_l1;
  served_by_l2 += other.served_by_l2;
  served_by_dram += other.served_by_dram;
  bytes += other.bytes;
  wavefronts += other.wavefronts;
  conflicts += other.conflicts;
  shared_requests += other.shared_requests;
  predicated_off += other.predicated_off;
  divergent += other.divergent;
}

}  // namespace roofwalk::vgpu
