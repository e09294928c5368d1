// wmma: fragments from and to memory, and matrix products of all shapes and types for which matrix_ops.cpp has no
// faster handler.
//
// The costs of wmma.load and wmma.store are those of ptxas 13.0's machine code for sm_80. If the rows of a tile
// (fragments.h) are contiguous in memory, each tile takes one access of the warp, in which each thread accesses its
// adjacent elements. If columns are contiguous, 16-bit elements take the same number of accesses, because they are
// transposed in registers; other types take one access per element that a thread holds. 16-bit factors in shared memory
// are loaded by ldmatrix, four tiles at a time.
#include "common/vgpu/program/fragments.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "common/vgpu/exec/ops/half.h"
#include "common/vgpu/exec/ops/handlers.h"
#include "common/vgpu/exec/ops/members.h"
#include "common/vgpu/requests/coalescer.h"
#include "common/vgpu/requests/lanes.h"
#include "common/vgpu/requests/shared_memory.h"
#include "common/vgpu/sanitizer/checked_access.h"

namespace roofwalk::vgpu {

using ptx::Fragment;
using ptx::Instruction;
using ptx::Space;
using ptx::Type;

FragmentLayout fragment_layout(const Instruction& in, Fragment use, Type element) {
  FragmentLayout out;
  const bool is_factor = use == Fragment::a || use == Fragment::b;
  out.rows = use == Fragment::b ? in.shape.n : in.shape.m;
  out.columns = is_factor ? in.shape.k : in.shape.n;
  const int bytes = ptx::size_bytes(element);
  out.together = is_factor ? std::max(4 / bytes, 1) : 2;
  out.held = out.rows * out.columns / kWarpSize;
  const bool twice = ptx::has_trait(in, ptx::kOfFragments) && is_factor && element == Type::f16;
  if (twice) out.held = 16;
  return out;
}

namespace {

constexpr int kMostElements = 512;

// The elements of one matrix, row by row, as raw bits.
struct Elements {
  alignas(64) std::uint8_t bytes[kMostElements * 8];
};

// One access of the warp: the first element that each lane moves, and how many. `major` is the element's row if rows
// are contiguous in memory, else its column; `minor` is its place in that row or column.
struct Piece {
  std::uint32_t mask = kAllLanes;
  int count = 0;  // elements per lane
  bool rows = false;
  struct {
    std::int16_t major, minor;
  } lane[kWarpSize];
};

struct MatrixInMemory {
  FragmentLayout layout;
  int element_bytes = 0;
  bool along = false;  // rows of the layout are contiguous in memory

  int majors() const { return along ? layout.rows : layout.columns; }
  int minors() const { return along ? layout.columns : layout.rows; }
  int index(int major, int minor) const {
    return along ? major * layout.columns + minor : minor * layout.columns + major;
  }
};

MatrixInMemory matrix_in_memory(const Instruction& in) {
  const bool turned = in.fragment == Fragment::b;
  return {fragment_layout(in, in.fragment, in.type), ptx::size_bytes(in.type), in.by_columns == turned};
}

// Calls visit(piece) for each access to the matrix. Stops, and returns false, if `visit` returns false. `by_rows`: each
// lane loads a whole row of a tile, as for ldmatrix.
template <class Visit>
bool each_piece(const MatrixInMemory& matrix, bool by_rows, Visit&& visit) {
  const int together = matrix.layout.together;
  Piece piece;
  if (matrix.along || matrix.element_bytes == 2) {
    const int wide = 4 * together, down = matrix.majors() / 8, tiles = down * (matrix.minors() / wide);
    const auto tile_at = [&](int tile) { return std::pair(tile % down * 8, tile / down * wide); };
    for (int tile = 0; tile < tiles; tile += by_rows ? 4 : 1) {
      piece.rows = by_rows;
      if (by_rows) {
        const int some = std::min(tiles - tile, 4);
        piece.mask = some == 4 ? kAllLanes : (1u << (8 * some)) - 1;
        piece.count = wide;
        for (int l = 0; l < 8 * some; ++l) {
          const auto [major, minor] = tile_at(tile + l / 8);
          piece.lane[l] = {static_cast<std::int16_t>(major + l % 8), static_cast<std::int16_t>(minor)};
        }
      } else {
        piece.count = together;
        const auto [major, minor] = tile_at(tile);
        for (int l = 0; l < kWarpSize; ++l) {
          piece.lane[l] = {static_cast<std::int16_t>(major + l / 4),
                           static_cast<std::int16_t>(minor + l % 4 * together)};
        }
      }
      if (!visit(piece)) return false;
    }
    return true;
  }
  piece.count = 1;
  for (int element = 0; element < matrix.layout.rows * matrix.layout.columns / kWarpSize; ++element) {
    for (int l = 0; l < kWarpSize; ++l) {
      const auto [row, column] = matrix.layout.place(l, element);
      piece.lane[l] = {static_cast<std::int16_t>(column), static_cast<std::int16_t>(row)};
    }
    if (!visit(piece)) return false;
  }
  return true;
}

Access access_of(const Piece& piece, const MatrixInMemory& matrix, std::uint64_t base, std::uint64_t distance) {
  Access out;
  out.mask = piece.mask;
  out.bytes = static_cast<std::uint32_t>(piece.count * matrix.element_bytes);
  std::uint64_t bits = 0;
  for (int l = 0; l < kWarpSize; ++l) {
    const bool active = (piece.mask >> l & 1u) != 0;
    const auto& at = piece.lane[active ? l : 0];
    const std::uint64_t elements =
        static_cast<std::uint64_t>(at.major) * distance + static_cast<std::uint64_t>(at.minor);
    out.address[l] = base + elements * static_cast<std::uint64_t>(matrix.element_bytes);
    bits |= out.address[l];
  }
  out.bits = bits;
  out.low = *std::min_element(out.address, out.address + kWarpSize);
  out.high = *std::max_element(out.address, out.address + kWarpSize);
  return out;
}

// Loads one piece into the elements. False if a fault was recorded.
bool load_piece(Launch& launch, Warp& warp, const Op* op, const MatrixInMemory& matrix, const Piece& piece,
                Access& access, bool shared, Elements& out) {
  Pointers at;
  LaneBytes data;
  if (shared) {
    if (!resolve_shared(launch, warp, op, access, "reads", at)) return false;
    count_shared(launch, warp, op, access, piece.rows ? SharedUse::rows : SharedUse::load);
    if (!check_shared(launch, warp, op, access, SharedTouch::read, {.carries = true})) return false;
  } else if (!begin_load(launch, warp, op, access, at, data)) {
    return false;
  }
  for (int l = 0; l < kWarpSize; ++l) {
    if ((piece.mask >> l & 1u) == 0) continue;
    for (int i = 0; i < piece.count; ++i) {
      const int index = matrix.index(piece.lane[l].major, piece.lane[l].minor + i);
      std::memcpy(out.bytes + index * matrix.element_bytes, at.of(access, l) + i * matrix.element_bytes,
                  static_cast<std::size_t>(matrix.element_bytes));
    }
  }
  return true;
}

bool store_piece(Launch& launch, Warp& warp, const Op* op, const MatrixInMemory& matrix, const Piece& piece,
                 Access& access, bool shared, const Elements& from) {
  Pointers at;
  const auto put = [&](const Pointers& to) {
    for (int l = 0; l < kWarpSize; ++l) {
      for (int i = 0; i < piece.count; ++i) {
        const int index = matrix.index(piece.lane[l].major, piece.lane[l].minor + i);
        std::memcpy(to.of(access, l) + i * matrix.element_bytes, from.bytes + index * matrix.element_bytes,
                    static_cast<std::size_t>(matrix.element_bytes));
      }
    }
  };
  if (!shared) {
    if (!begin_store(launch, warp, op, access, at)) return false;
    if (!launch.stores_wait) {
      put(at);
      return true;
    }
    LaneBytes data;
    put(data.pointers(access));
    keep_stores(launch, access, at, data);
    return true;
  }
  if (!resolve_shared(launch, warp, op, access, "writes", at)) return false;
  count_shared(launch, warp, op, access, SharedUse::store);
  LaneBytes before;
  for (int l = 0; l < kWarpSize; ++l) std::memcpy(before.lane(l), at.of(access, l), access.bytes);
  put(at);
  std::uint32_t unchanged = 0;
  for (int l = 0; l < kWarpSize; ++l) {
    unchanged |= std::memcmp(before.lane(l), at.of(access, l), access.bytes) == 0 ? 1u << l : 0u;
  }
  return check_shared(launch, warp, op, access, SharedTouch::write, {.unchanged = unchanged});
}

// Copies between registers and elements. The lanes of a register are contiguous, and so are the packed elements of a
// lane.
template <class T, bool to_registers, class Bits>
void exchange(Warp& warp, const Slot* slots, const FragmentLayout& layout, Bits* elements) {
  constexpr int kInRegister = sizeof(T) >= 4 ? 1 : 4 / static_cast<int>(sizeof(T));
  for (int element = 0; element < layout.held; ++element) {
    const Slot slot = slots[element / kInRegister];
    if (slot == kNoSlot) continue;
    T* const lanes = warp.lanes<T>(slot);
    for (int l = 0; l < kWarpSize; ++l) {
      const auto [row, column] = layout.place(l, element);
      T& in_register = lanes[l * kInRegister + element % kInRegister];
      auto& in_matrix = elements[row * layout.columns + column];
      if constexpr (to_registers)
        in_register = in_matrix;
      else
        in_matrix = in_register;
    }
  }
}

template <class T, bool to_registers>
void exchange_elements(Warp& warp, const Slot* slots, const FragmentLayout& layout, Elements& elements) {
  exchange<T, to_registers>(warp, slots, layout, reinterpret_cast<T*>(elements.bytes));
}

template <bool to_registers>
void exchange_any(Warp& warp, const Slot* slots, const MatrixInMemory& matrix, Elements& elements) {
  switch (matrix.element_bytes) {
    case 1:
      return exchange_elements<std::uint8_t, to_registers>(warp, slots, matrix.layout, elements);
    case 2:
      return exchange_elements<std::uint16_t, to_registers>(warp, slots, matrix.layout, elements);
    case 4:
      return exchange_elements<std::uint32_t, to_registers>(warp, slots, matrix.layout, elements);
    default:
      return exchange_elements<std::uint64_t, to_registers>(warp, slots, matrix.layout, elements);
  }
}

// Calls visit(register, shift, lane, byte) for each element that a lane holds: the bits of which register, and where it
// is in memory.
template <class Visit>
void each_element(const ptx::Operand& operand, const MatrixInMemory& matrix, std::uint64_t base, std::uint64_t distance,
                  Visit&& visit) {
  const auto bytes = static_cast<std::uint64_t>(matrix.element_bytes);
  const int in_register = std::max(4 / matrix.element_bytes, 1);
  for (int element = 0; element < matrix.layout.held; ++element) {
    const ptx::Operand& reg =
        operand.elements.empty() ? operand : operand.elements[static_cast<std::size_t>(element / in_register)];
    for (int l = 0; reg.index >= 0 && l < kWarpSize; ++l) {
      const auto [row, column] = matrix.layout.place(l, element);
      const auto major = static_cast<std::uint64_t>(matrix.along ? row : column);
      const auto minor = static_cast<std::uint64_t>(matrix.along ? column : row);
      visit(reg.index, static_cast<std::uint64_t>(element % in_register) * 8 * bytes, l,
            base + (major * distance + minor) * bytes);
    }
  }
}

// Marks the registers of a matrix that a load has filled from shared memory with values that nobody has written.
void mark_unset_fragment(const Launch& launch, Warp& warp, const Op* op, const MatrixInMemory& matrix,
                         std::uint64_t base, std::uint64_t distance) {
  each_element(op->instruction->operands[0], matrix, base, distance,
               [&](int reg, std::uint64_t shift, int lane, std::uint64_t byte) {
                 const std::uint64_t word = byte & ~3ull;
                 const auto bytes = static_cast<std::size_t>(std::max(matrix.element_bytes, 4));
                 const std::uint64_t whole = all_bits(static_cast<std::size_t>(matrix.element_bytes));
                 const std::uint64_t own = warp.block->shadow->unset_bits(word, bytes) >> byte % 4 * 8 & whole;
                 if (own == 0) return;
                 UnsetRegister& mark = unset_values(launch, warp).registers[reg];
                 const auto by = static_cast<std::uint8_t>(lane);
                 mark.put(lane, mark.bits(lane) | own << shift,
                          {op, UnsetOrigin::Where::shared, warp.block->shadow->is_written(byte), by, 0, byte});
               });
}

// Marks what a store of a matrix leaves of such values in shared memory. Global memory is written to be read: false,
// with a fault recorded.
bool store_unset_fragment(Launch& launch, const Warp& warp, const Op* op, const MatrixInMemory& matrix,
                          std::uint64_t base, std::uint64_t distance, bool shared) {
  bool is_fine = true;
  each_element(op->instruction->operands[1], matrix, base, distance,
               [&](int reg, std::uint64_t shift, int lane, std::uint64_t byte) {
                 const auto mark = warp.unset->registers.find(reg);
                 if (mark == warp.unset->registers.end() || !is_fine) return;
                 const auto bytes = static_cast<std::size_t>(matrix.element_bytes);
                 const std::uint64_t own = mark->second.bits(lane) >> shift & all_bits(bytes);
                 if (own == 0) return;
                 if (!shared) {
                   report_unset(launch, warp, mark->second.from(lane));
                   is_fine = false;
                 } else if (RaceDetector* const shadow = warp.block->shadow.get(); shadow != nullptr) {
                   const std::uint64_t word = byte & ~3ull;
                   const std::uint64_t others = shadow->unset_bits(word, std::max<std::size_t>(bytes, 4));
                   shadow->leave_unset(word, std::max<std::size_t>(bytes, 4), others | own << byte % 4 * 8);
                 }
               });
  return is_fine;
}

template <bool store>
const Op* op_fragment(Launch& launch, Warp& warp, const Op* op) {
  if (!all_threads(launch, warp, op)) return nullptr;
  const Instruction& in = *op->instruction;
  const MatrixInMemory matrix = matrix_in_memory(in);
  std::uint64_t base = static_cast<std::uint64_t>(op->offset);
  if (op->s[4] != kNoSlot)
    base += op->count == 8 ? warp.lanes<std::uint64_t>(op->s[4])[0] : warp.lanes<std::uint32_t>(op->s[4])[0];
  const std::uint64_t distance =
      op->s[5] == kNoSlot ? static_cast<std::uint64_t>(matrix.minors()) : warp.lanes<std::uint32_t>(op->s[5])[0];
  const bool shared = in.space == Space::shared || (in.space == Space::generic && base - kSharedWindow < kWindowBytes);
  if (in.space == Space::generic && base - kLocalWindow < kWindowBytes) {
    return launch.stop(warp, op, FaultKind::unsupported, -1,
                       "a matrix in a thread's own local memory: each thread has another one; use shared memory");
  }
  const Slot* const slots = &launch.program.matrix_slots[op->target];
  Elements elements;
  if constexpr (store) exchange_any<false>(warp, slots, matrix, elements);
  const bool by_rows = !store && shared && matrix.element_bytes == 2 && in.fragment != Fragment::c;
  const bool done = each_piece(matrix, by_rows, [&](const Piece& piece) {
    Access access = access_of(piece, matrix, base, distance);
    return store ? store_piece(launch, warp, op, matrix, piece, access, shared, elements)
                 : load_piece(launch, warp, op, matrix, piece, access, shared, elements);
  });
  if (!done) return nullptr;
  const std::uint64_t first = shared && in.space == Space::generic ? base - kSharedWindow : base;
  if (store && warp.unset != nullptr && !store_unset_fragment(launch, warp, op, matrix, first, distance, shared))
    return nullptr;
  if constexpr (!store) {
    exchange_any<true>(warp, slots, matrix, elements);
    // All lanes load together, so on today's GPUs any may then overwrite what another has read. PTX does not promise
    // it.
    if (warp.block->shadow != nullptr) warp.block->shadow->meet_in_warp(warp.index, kAllLanes, true);
    if (shared && warp.block->shadow != nullptr && warp.block->shadow->take_unset()) {
      mark_unset_fragment(launch, warp, op, matrix, first, distance);
      return detour_if_unset(warp, after_memory(launch, warp, op));
    }
  }
  return after_memory(launch, warp, op);
}

// ---- Products -------------------------------------------------------------------------------------------------------

struct Tf32 {
  std::uint32_t bits;
};
// Drops the low 13 bits, which are not part of a tf32 number.
float widen(Tf32 x) { return std::bit_cast<float>(x.bits & 0xffff'e000u); }
std::int32_t widen(std::int8_t x) { return x; }
std::int32_t widen(std::uint8_t x) { return x; }
double widen(double x) { return x; }

template <class Factor>
using Wide = decltype(widen(Factor{}));

// The operands of a matrix product; the sums start as c. Floats are added in the order of k, and each sum is rounded to
// nearest (doubles: fused). A sum of halves is kept in binary32 and rounded to binary16 once, at the end. Hardware may
// add in another order, which PTX leaves open. Integer sums wrap or, with .satfinite, are clamped once at the end.
template <class A, class B, class Sum>
struct Product {
  using Value = std::conditional_t<std::is_same_v<Sum, std::int32_t>, std::int64_t,
                                   std::conditional_t<std::is_same_v<Sum, double>, double, float>>;
  alignas(64) Wide<A> a[kMostElements];
  alignas(64) Wide<B> b[kMostElements];  // k rows of n
  alignas(64) Value sums[kMostElements];
};

template <class Factor>
void gather(Warp& warp, const Slot* slots, const FragmentLayout& layout, bool turn, Wide<Factor>* out) {
  Factor raw[kMostElements];
  exchange<Factor, false>(warp, slots, layout, raw);
  for (int r = 0; r < layout.rows; ++r) {
    for (int c = 0; c < layout.columns; ++c) {
      out[turn ? c * layout.rows + r : r * layout.columns + c] = widen(raw[r * layout.columns + c]);
    }
  }
}

template <int n, class A, class B, class Sum>
void multiply(Product<A, B, Sum>& p, int m, int k) {
  for (int i = 0; i < m; ++i) {
    auto* const row = p.sums + i * n;
    for (int x = 0; x < k; ++x) {
      const auto factor = p.a[i * k + x];
      const auto* const others = p.b + x * n;
      for (int j = 0; j < n; ++j) {
        if constexpr (std::is_same_v<Sum, double>)
          row[j] = std::fma(factor, others[j], row[j]);
        else
          row[j] += factor * others[j];
      }
    }
  }
}

std::int32_t finished(std::int64_t sum, bool clamps, std::int32_t) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int32_t>::min(),
                         kMost = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(clamps ? std::clamp(sum, kLeast, kMost) : sum);
}
Half finished(float sum, bool, Half) { return narrow<Half>(sum); }
float finished(float sum, bool, float) { return sum != sum ? canonical_nan() : sum; }
double finished(double sum, bool, double) { return sum != sum ? std::numeric_limits<double>::quiet_NaN() : sum; }
std::int64_t started(std::int32_t c) { return c; }
float started(Half c) { return widen(c); }
float started(float c) { return c; }
double started(double c) { return c; }

template <class A, class B, class C, class D>
const Op* op_product(Launch& launch, Warp& warp, const Op* op) {
  if (!all_threads(launch, warp, op)) return nullptr;
  const Instruction& in = *op->instruction;
  const auto layout = [&](Fragment use, Type type) { return fragment_layout(in, use, type); };
  const auto registers = [](const FragmentLayout& of, Type type) {
    return of.held / std::max(4 / ptx::size_bytes(type), 1);
  };
  const FragmentLayout of_d = layout(Fragment::d, in.type), of_a = layout(Fragment::a, in.source_type);
  const FragmentLayout of_b = layout(Fragment::b, in.second_type), of_c = layout(Fragment::c, in.sum_type);
  const Slot* const slots_d = &launch.program.matrix_slots[static_cast<std::size_t>(op->offset)];
  const Slot* const slots_a = slots_d + registers(of_d, in.type);
  const Slot* const slots_b = slots_a + registers(of_a, in.source_type);
  const Slot* const slots_c = slots_b + registers(of_b, in.second_type);

  Product<A, B, C> product;
  gather<A>(warp, slots_a, of_a, false, product.a);
  gather<B>(warp, slots_b, of_b, true, product.b);
  const int count = in.shape.m * in.shape.n;
  C before[kMostElements];
  exchange<C, false>(warp, slots_c, of_c, before);
  for (int i = 0; i < count; ++i) product.sums[i] = started(before[i]);
  if (in.shape.n == 8)
    multiply<8>(product, in.shape.m, in.shape.k);
  else if (in.shape.n == 16)
    multiply<16>(product, in.shape.m, in.shape.k);
  else
    multiply<32>(product, in.shape.m, in.shape.k);
  D after[kMostElements];
  for (int i = 0; i < count; ++i) after[i] = finished(product.sums[i], in.satfinite, D{});
  exchange<D, true>(warp, slots_d, of_d, after);
  return op + 1;
}

template <class Factor>
Handler product_of(Type sum, Type result) {
  if (sum == Type::f16)
    return result == Type::f16 ? op_product<Factor, Factor, Half, Half> : op_product<Factor, Factor, Half, float>;
  return result == Type::f16 ? op_product<Factor, Factor, float, Half> : op_product<Factor, Factor, float, float>;
}

}  // namespace

int fragment_accesses(const Instruction& in) {
  int count = 0;
  const MatrixInMemory matrix = matrix_in_memory(in);
  const ptx::Form form = ptx::info(in.opcode).form;
  const bool by_rows = in.space == Space::shared && form == ptx::Form::fragment_load && matrix.element_bytes == 2 &&
                       in.fragment != Fragment::c;
  each_piece(matrix, by_rows, [&](const Piece&) { return ++count, true; });
  return count;
}

Handler fragment_handler(const Instruction& in) {
  return ptx::info(in.opcode).form == ptx::Form::fragment_store ? op_fragment<true> : op_fragment<false>;
}

Handler fragment_multiply_handler(const Instruction& in) {
  const bool first = in.source_type == Type::s8, second = in.second_type == Type::s8;
  switch (in.source_type) {
    case Type::f16:
      return product_of<Half>(in.sum_type, in.type);
    case Type::bf16:
      return op_product<BFloat, BFloat, float, float>;
    case Type::tf32:
      return op_product<Tf32, Tf32, float, float>;
    case Type::f64:
      return op_product<double, double, double, double>;
    default:
      if (first) {
        return second ? op_product<std::int8_t, std::int8_t, std::int32_t, std::int32_t>
                      : op_product<std::int8_t, std::uint8_t, std::int32_t, std::int32_t>;
      }
      return second ? op_product<std::uint8_t, std::int8_t, std::int32_t, std::int32_t>
                    : op_product<std::uint8_t, std::uint8_t, std::int32_t, std::int32_t>;
  }
}

}  // namespace roofwalk::vgpu
