// Static analysis of registers for the case that all 32 lanes of a warp run together. A register is uniform (one value
// for the warp), affine (a value of the warp plus an offset per lane, the same offsets in every warp) or neither.
// Addresses and counters are nearly always uniform or affine, so that one number represents all 32 lanes (lockstep.h).
// The analysis runs forward over all definitions, in any order: whenever the shape of a register is weakened, its
// readers are analysed again. Block shape and parameters are known here, so most factors of thread indices are
// constants.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

struct Shape {
  enum class Kind : std::uint8_t {
    unknown,   // no definition seen yet
    constant,  // `value` in every lane of every warp
    uniform,   // one value in all lanes of a warp; predicates: true in all lanes or in none
    affine,    // lane l: lane 0's value + of_lane[l]
    varying
  };
  Kind kind = Kind::unknown;
  std::uint64_t value = 0;
  std::uint32_t lane_offsets = 0;  // affine: index in AffineAnalysis::lane_offsets(); else 0: all zero
  bool operator==(const Shape&) const = default;
  bool is_one_number() const { return kind != Kind::unknown && kind != Kind::varying; }
  bool is_uniform() const { return kind == Kind::constant || kind == Kind::uniform; }
};

// An operation's result, as a function of its sources' shapes.
struct Effect {
  Shape shape;                  // of its results
  Handler on_lane_0 = nullptr;  // computes lane 0 only, which suffices if the result is one number; nullptr: none
  // Index in Op::s of an affine 32-bit source that the operation extends to 64 bits: the shape holds only while no lane
  // of that source wraps around. -1: none.
  int checked = -1;
  bool checked_signed = false;
  std::uint32_t checked_offsets = 0;
};

// Whether an operation loads a parameter of the kernel, which lowering turns into a move of a constant.
bool is_kernel_parameter(const Op& op);

class AffineAnalysis {
 public:
  explicit AffineAnalysis(const Program& program);

  const Shape& shape(int reg) const { return shapes_[static_cast<std::size_t>(reg)]; }
  // `op` must have an instruction, so it must not be a block entry.
  Effect effect_of(const Op& op) const;
  // Returns the shape of the address register (s[4]) of a load or store.
  Shape address_shape(const Op& op) const;
  const std::vector<LaneOffsets>& lane_offsets() const { return lane_offsets_; }

 private:
  void find_readers();
  // Queues an operation, or all operations that read a register, for another analysis.
  void ask_again(std::uint32_t op);
  void ask_readers_again(std::size_t reg);
  void settle();
  void apply(const Op& op);
  void widen(int reg, const Shape& shape);

  Shape shape_of(const ptx::Operand& operand, Slot at, std::uint32_t bytes) const;
  Effect alu(const Op& op) const;
  Effect convert(const Op& op) const;
  Effect select(const Op& op) const;
  Effect compare(const Op& op) const;
  Effect load(const Op& op) const;

  Shape sum(const Shape& a, const Shape& b, bool negate_b, std::uint32_t bytes) const;
  Shape product(const Shape& a, const Shape& b, std::uint32_t bytes) const;
  Shape with_offsets(const std::array<std::uint64_t, kWarpSize>& offsets, std::uint32_t bytes) const;

  const Program& program_;
  std::vector<Shape> shapes_;  // by register
  // The operations that read each register; those of register r begin at first_reader_[r].
  std::vector<std::size_t> first_reader_;
  std::vector<std::uint32_t> readers_;
  std::deque<std::uint32_t> asked_;  // operations to be analysed
  std::vector<bool> is_asked_;       // by operation
  // All lane offsets found so far. Mutable: effect_of() may add to them.
  mutable std::vector<LaneOffsets> lane_offsets_;
  mutable std::map<std::array<std::uint64_t, kWarpSize>, std::uint32_t> numbers_of_offsets_;
};

}  // namespace roofwalk::vgpu
