// An SM keeps its stores of a round in a log, from which its own loads read them.
#include <bit>
#include <cstring>

#include "common/vgpu/requests/coalescer.h"

namespace roofwalk::vgpu {

Pointers LaneBytes::pointers(const Access& access) {
  Pointers out;
  if (access.contiguous) {
    out.base = bytes;
    out.low_address = access.low;
  } else {
    for (int l = 0; l < kWarpSize; ++l) out.lane[l] = lane(l, access.bytes);
  }
  return out;
}

void overlay_stores(const Launch& launch, const Access& access, Pointers& at, LaneBytes& bytes) {
  for (int l = 0; l < kWarpSize; ++l) {
    if ((access.mask >> l & 1u) == 0) continue;
    std::memcpy(bytes.lane(l), at.of(access, l), access.bytes);
    launch.sm->stores.overlay(access.of(l), access.bytes, bytes.lane(l));
  }
  at.base = nullptr;
  const int some = std::countr_zero(access.mask);
  for (int l = 0; l < kWarpSize; ++l) at.lane[l] = bytes.lane((access.mask >> l & 1u) != 0 ? l : some);
}

void keep_stores(Launch& launch, const Access& access, const Pointers& at, LaneBytes& bytes) {
  StoreLog& stores = launch.sm->stores;
  if (access.contiguous) {
    stores.write(access.low, bytes.bytes, kWarpSize * access.bytes, at.of(access, 0));
    return;
  }
  // Lanes with adjacent addresses, as in a row of a tile, are logged as one store: their bytes are adjacent in `bytes`,
  // too.
  const auto stores_lane = [&](int l) { return l < kWarpSize && (access.mask >> l & 1u) != 0; };
  for (int l = 0; l < kWarpSize; ++l) {
    if (!stores_lane(l)) continue;
    const int first = l;
    while (at.base != nullptr && stores_lane(l + 1) && access.of(l + 1) == access.of(l) + access.bytes) ++l;
    stores.write(access.of(first), bytes.lane(first, access.bytes),
                 static_cast<std::uint32_t>(l + 1 - first) * access.bytes, at.of(access, first));
  }
}

}  // namespace roofwalk::vgpu
