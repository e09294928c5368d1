// Reads SASS (compute capability 8.0 and 9.0) for tests: registers, branches and loops. Reads a cubin's bytes directly,
// without the library's own reader. Opcodes were identified with NVIDIA's disassembler.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace roofwalk::test {

struct SassInstruction {
  unsigned operation = 0;             // low nine bits
  std::vector<int> results, sources;  // general registers
  int target = -1;                    // index of a branch's target in the kernel
  bool is_load() const { return operation == 0x180 || operation == 0x181 || operation == 0x183 || operation == 0x184; }
  bool is_store() const { return operation >= 0x185 && operation <= 0x188; }
  bool is_arithmetic() const { return operation == 0x020 || operation == 0x021 || operation == 0x023; }
};

inline SassInstruction read_sass_instruction(const char* at, int place, bool hopper) {
  std::uint64_t low = 0, high = 0;
  std::memcpy(&low, at, 8);
  std::memcpy(&high, at + 8, 8);
  SassInstruction in;
  in.operation = low & 0x1ff;
  const unsigned form = low >> 9 & 7;
  const auto field = [&](unsigned bit) {
    return static_cast<int>((bit < 64 ? low >> bit : high >> (bit - 64)) & 0xff);
  };
  const auto add = [](std::vector<int>& to, int first, int count) {
    for (int i = 0; i < count && first != 255; ++i) to.push_back(first + i);
  };
  const bool memory = in.operation >= 0x180 && in.operation <= 0x1af;
  const unsigned size = high >> 9 & 7;  // 4: 32 bits, 5: 64, 6: 128
  const int words = memory && size >= 4 && size <= 6 ? 1 << (size - 4) : 1;
  if (in.is_load()) {
    add(in.results, field(16), words);
    add(in.sources, field(24), 1);
  } else if (in.is_store()) {
    add(in.sources, field(24), 1);
    add(in.sources, field(32), words);
  } else {
    // Control flow, and instructions that use only uniform registers.
    const bool control =
        (in.operation >= 0x11a && in.operation < 0x180) || (in.operation >= 0x080 && in.operation < 0x0c0);
    const bool compare = in.operation == 0x00b || in.operation == 0x00c || in.operation == 0x02a;  // writes predicates
    if (!control) {
      if (!compare) add(in.results, field(16), 1);
      add(in.sources, field(24), 1);
      if (form == 1) add(in.sources, field(32), 1);
      if (!memory && !compare) add(in.sources, field(64), 1);
    }
  }
  if (in.operation == 0x147) {
    const auto distance = static_cast<std::int64_t>((high << 46 | low >> 18) & ~std::uint64_t{0xffff}) >> 16;
    in.target = static_cast<int>(place + 1 + (hopper ? distance * 256 + field(16) : distance) * 4 / 16);
  }
  return in;
}

// Returns the kernels of a cubin by name.
inline std::map<std::string, std::vector<SassInstruction>> read_sass(const std::string& cubin, bool hopper) {
  const auto number = [&]<class T>(std::size_t at, T value) {
    std::memcpy(&value, cubin.data() + at, sizeof value);
    return value;
  };
  const auto table = number(40, std::uint64_t{}), count = std::uint64_t{number(60, std::uint16_t{})};
  const auto names = number(table + 64 * number(62, std::uint16_t{}) + 24, std::uint64_t{});
  std::map<std::string, std::vector<SassInstruction>> out;
  for (std::uint64_t s = 0; s < count; ++s) {
    const std::size_t header = table + 64 * s;
    const std::string name = cubin.data() + names + number(header, std::uint32_t{});
    if (!name.starts_with(".text.")) continue;
    const auto offset = number(header + 24, std::uint64_t{}), size = number(header + 32, std::uint64_t{});
    auto& code = out[name.substr(6)];
    for (std::uint64_t at = 0; at + 16 <= size; at += 16) {
      code.push_back(read_sass_instruction(cubin.data() + offset + at, static_cast<int>(at / 16), hopper));
    }
  }
  return out;
}

// A loop without inner branches: instructions [first, last], where the last branches to the first.
struct SassLoop {
  std::size_t first = 0, last = 0;
};

inline std::vector<SassLoop> straight_loops(const std::vector<SassInstruction>& code) {
  std::set<int> targets;
  for (const SassInstruction& in : code) targets.insert(in.target);
  std::vector<SassLoop> loops;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const int first = code[i].target;
    if (first < 0 || static_cast<std::size_t>(first) >= i) continue;
    bool straight = true;
    for (auto j = static_cast<std::size_t>(first); j < i; ++j) {
      straight = straight && code[j].target < 0 &&
                 (j == static_cast<std::size_t>(first) || !targets.contains(static_cast<int>(j)));
    }
    if (straight) loops.push_back({static_cast<std::size_t>(first), i});
  }
  return loops;
}

// Returns the number of loads before the first instruction that uses a loaded value. Loads without a destination
// register do not count: ptxas emits some before a copy to shared memory.
inline int loads_before_use(const std::vector<SassInstruction>& code, const SassLoop& loop) {
  std::set<int> loaded;
  int loads = 0;
  for (std::size_t i = loop.first; i <= loop.last; ++i) {
    for (const int source : code[i].sources) {
      if (loaded.contains(source)) return loads;
    }
    for (const int result : code[i].results) {
      if (code[i].is_load())
        loaded.insert(result);
      else
        loaded.erase(result);
    }
    loads += code[i].is_load() && !code[i].results.empty();
  }
  return loads;
}

}  // namespace roofwalk::test
