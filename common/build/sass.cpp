#include "common/build/sass.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace roofwalk {
namespace {

// Operations: the low nine bits of the encoding, found by assembling kernels. The three bits above them give the kinds
// of operands.
constexpr std::uint16_t kNop = 0x118, kBranch = 0x147, kSharedLoad = 0x184, kSharedStore = 0x188;
// Twelve bits, with the kinds of operands: FFMA with three registers; ATOMS without a value (POPC.INC, ARRIVE).
constexpr std::uint16_t kFmaOfRegisters = 0x223, kAtomicWithoutValue = 0xf8c;
constexpr int kTypeBit = 73 - 64;  // of LDS, STS and ATOMS: three bits of the upper half of the encoding

// Reads from the front; sets `failed` if too few bytes are left.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes, std::size_t at = 0) : bytes_(bytes), at_(at) {}

  std::size_t at() const { return at_; }
  bool failed() const { return failed_; }
  bool more() const { return !failed_ && at_ < bytes_.size(); }

  template <class T>
  T take() {
    T value{};
    if (failed_ || bytes_.size() - at_ < sizeof value) {
      failed_ = true;
      return value;
    }
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

  // Reads a LEB128 number; bits beyond 64 are lost.
  std::uint64_t take_number(bool is_signed = false) {
    std::uint64_t value = 0;
    unsigned shift = 0;
    std::uint8_t byte = 0;
    do {
      byte = take<std::uint8_t>();
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      shift += 7;
    } while ((byte & 0x80) != 0 && !failed_);
    if (is_signed && shift < 64 && (byte & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
    return value;
  }

  void skip(std::uint64_t count) {
    if (failed_ || count > bytes_.size() - at_) failed_ = true;
    if (!failed_) at_ += count;
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

// Opcodes of a line program (DWARF 2, section 6.2.5).
enum : std::uint8_t {
  kExtended = 0,
  kCopy = 1,
  kAdvanceAddress = 2,
  kAdvanceLine = 3,
  kAddConstant = 8,
  kFixedAdvance = 9,
  kEndSequence = 1,
  kSetAddress = 2
};

struct LineHeader {
  std::uint8_t step = 1;  // bytes per instruction
  std::int8_t line_base = 0;
  std::uint8_t line_range = 1, first_special = 1;
  std::vector<std::uint8_t> operands;  // operand counts of the standard opcodes, from 1 on
};

// Runs one unit's line program, which is [at, end) of the table.
void run_line_program(std::string_view table, std::size_t at, std::size_t end, const LineHeader& header,
                      const std::map<std::uint64_t, CodeAddress>& homes,
                      std::map<std::uint32_t, std::vector<LineRow>>& out) {
  Bytes in(table.substr(0, end), at);
  std::uint64_t address = 0;
  std::uint32_t line = 1;
  std::vector<LineRow>* rows = nullptr;
  const auto add_row = [&] {
    if (rows != nullptr) rows->push_back({address, line});
  };
  while (in.more()) {
    const auto opcode = in.take<std::uint8_t>();
    if (opcode >= header.first_special) {
      const int special = opcode - header.first_special;
      address += static_cast<std::uint64_t>(special / header.line_range) * header.step;
      line += static_cast<std::uint32_t>(header.line_base + special % header.line_range);
      add_row();
    } else if (opcode == kExtended) {
      const std::uint64_t size = in.take_number();
      const std::size_t start = in.at();
      const auto extended = in.take<std::uint8_t>();
      if (extended == kSetAddress) {
        const auto home = homes.find(in.at());
        rows = home != homes.end() ? &out[home->second.section] : nullptr;
        address = in.take<std::uint64_t>() + (home != homes.end() ? home->second.offset : 0);
      } else if (extended == kEndSequence) {
        address = 0;
        line = 1;
        rows = nullptr;
      }
      if (in.failed() || in.at() - start > size) return;
      in.skip(size - (in.at() - start));
    } else if (opcode == kCopy) {
      add_row();
    } else if (opcode == kAdvanceAddress) {
      address += in.take_number() * header.step;
    } else if (opcode == kAdvanceLine) {
      line += static_cast<std::uint32_t>(in.take_number(/*is_signed=*/true));
    } else if (opcode == kAddConstant) {
      address += static_cast<std::uint64_t>((255 - header.first_special) / header.line_range) * header.step;
    } else if (opcode == kFixedAdvance) {
      address += in.take<std::uint16_t>();
    } else {
      for (int i = 0; i < header.operands[opcode - 1u]; ++i) in.take_number();
    }
  }
}

// Returns the target of a branch at `address`, from the 128 bits of its encoding. On Hopper and later, eight bits of
// the distance are in a different place.
std::int64_t branch_target(std::uint64_t low, std::uint64_t high, std::uint64_t address, int architecture) {
  const auto words =
      static_cast<std::int64_t>((high << 46 | low >> 18) & ~std::uint64_t{0xffff}) >> 16;  // bits 34 to 81
  const std::int64_t distance =
      architecture >= 90 ? (words << 8 | static_cast<std::int64_t>(low >> 16 & 0xff)) * 4 : words * 4;
  return static_cast<std::int64_t>(address + kInstructionBytes) + distance;
}

// The operands that an FFMA leaves in the reuse cache: by place, a register; kNone.
struct Reused {
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::array<std::uint64_t, 3> registers{kNone, kNone, kNone};
};

// Returns how many registers an FFMA of three registers reads from the register file: each one once, and none that the
// instruction before has left at the same place. 0 for other instructions.
std::uint8_t register_reads(std::uint64_t low, std::uint64_t high, Reused& reused) {
  constexpr std::uint64_t kZeroRegister = 255;
  constexpr int kReuseBit = 58;
  const Reused before = std::exchange(reused, {});
  if ((low & 0xfff) != kFmaOfRegisters) return 0;
  const std::array<std::uint64_t, 3> operands{low >> 24 & 0xff, low >> 32 & 0xff, high & 0xff};
  std::uint8_t reads = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if ((high >> (kReuseBit + i) & 1) != 0) reused.registers[i] = operands[i];
    const bool again = std::find(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(i), operands[i]) !=
                       operands.begin() + static_cast<std::ptrdiff_t>(i);
    reads = static_cast<std::uint8_t>(reads +
                                      (operands[i] != kZeroRegister && !again && before.registers[i] != operands[i]));
  }
  return reads;
}

// Returns how many bytes an LDS or STS moves per lane; 0 for other instructions. Three bits of the encoding name the
// type: U8, S8, U16, S16, 32, 64, 128 bits.
std::uint8_t shared_bytes(std::uint64_t low, std::uint64_t high) {
  constexpr std::array<std::uint8_t, 8> kBytes{1, 1, 2, 2, 4, 8, 16, 0};
  const auto operation = static_cast<std::uint16_t>(low & 0x1ff);
  return operation == kSharedLoad || operation == kSharedStore ? kBytes[high >> kTypeBit & 7] : 0;
}

// Whether this is ATOMS.POPC.INC, which adds 32 bits; an ATOMS.ARRIVE has 64.
bool counts_lanes(std::uint64_t low, std::uint64_t high) {
  return (low & 0xfff) == kAtomicWithoutValue && (high >> kTypeBit & 7) == 0;
}

}  // namespace

std::map<std::uint32_t, std::vector<LineRow>> read_line_table(std::string_view table,
                                                              const std::map<std::uint64_t, CodeAddress>& homes) {
  std::map<std::uint32_t, std::vector<LineRow>> out;
  for (std::size_t unit = 0; unit < table.size();) {
    Bytes in(table, unit);
    const auto size = in.take<std::uint32_t>();
    const std::size_t end = in.at() + size;
    const auto version = in.take<std::uint16_t>();
    const auto header_size = in.take<std::uint32_t>();
    const std::size_t program = in.at() + header_size;
    LineHeader header;
    header.step = in.take<std::uint8_t>();
    in.take<std::uint8_t>();  // default_is_stmt
    header.line_base = in.take<std::int8_t>();
    header.line_range = in.take<std::uint8_t>();
    header.first_special = in.take<std::uint8_t>();
    for (int i = 1; i < header.first_special; ++i) header.operands.push_back(in.take<std::uint8_t>());
    if (in.failed() || version != 2 || header.line_range == 0 || end > table.size() || program > end) break;
    run_line_program(table, program, end, header, homes, out);
    unit = end;
  }
  return out;
}

std::vector<MachineInstruction> read_machine_code(std::string_view text, int architecture, std::vector<LineRow> rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const LineRow& a, const LineRow& b) { return a.address < b.address; });
  const std::size_t count = text.size() / kInstructionBytes;
  std::vector<MachineInstruction> code(count);
  std::size_t row = 0;
  Reused reused;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t address = i * kInstructionBytes;
    while (row < rows.size() && rows[row].address <= address) ++row;
    std::uint64_t low = 0, high = 0;
    std::memcpy(&low, text.data() + address, sizeof low);
    std::memcpy(&high, text.data() + address + sizeof low, sizeof high);
    code[i].ptx_line = row > 0 ? rows[row - 1].line : 0;
    code[i].register_reads = register_reads(low, high, reused);
    code[i].shared_bytes = shared_bytes(low, high);
    code[i].counts_lanes = counts_lanes(low, high);
    // Next to asynchronous copies, ptxas emits instructions that are never executed. They count as no-ops, because they
    // only take an issue slot.
    constexpr std::uint64_t kGuard = 0xf000, kNeverOn = 0xf000;
    code[i].operation = (low & kGuard) == kNeverOn ? kNop : low & 0x1ff;
    if (code[i].operation != kBranch) continue;
    const std::int64_t target = branch_target(low, high, address, architecture);
    if (target < 0 || static_cast<std::uint64_t>(target) >= text.size() || target % kInstructionBytes != 0) continue;
    code[i].target = static_cast<std::int32_t>(target / static_cast<std::int64_t>(kInstructionBytes));
  }
  while (!code.empty() && code.back().operation == kNop) code.pop_back();
  // The code ends with an unreachable branch to itself, which is removed.
  if (!code.empty() && code.back().target == static_cast<std::int32_t>(code.size()) - 1) code.pop_back();
  return code;
}

}  // namespace roofwalk
