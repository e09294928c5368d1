#include "common/build/cubin.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "common/build/sass.h"

namespace roofwalk {
namespace {

// The parts of ELF64 and of NVIDIA's extensions that are needed here.
constexpr std::uint16_t kMachineCuda = 190;
constexpr std::uint32_t kTypeSymbols = 2, kTypeRela = 4, kTypeRel = 9;
constexpr std::uint8_t kSymbolIsEntry = 0x10;          // in st_other
constexpr std::uint8_t kFormatSized = 4;               // an .nv.info record whose payload has a 16-bit size
constexpr std::uint8_t kAttributeFrameSize = 0x11;     // payload: symbol, bytes
constexpr std::uint8_t kAttributeMinStackSize = 0x12;  // payload: kernel's symbol, bytes with all that it calls
constexpr std::uint8_t kAttributeRegisters = 0x2f;     // payload: symbol, registers per thread
constexpr std::uint32_t kMostRegisters = 255;          // the most that an instruction can name
// Markers in .nv.callgraph: each gives the meaning of the pairs from it up to the next marker.
constexpr std::uint32_t kGraphFirstMarker = 0xfffffff0;
constexpr std::uint32_t kGraphCalls = 0xffffffff;           // caller, callee
constexpr std::uint32_t kGraphAddressTaken = 0xfffffffe;    // function whose address is taken, prototype
constexpr std::uint32_t kGraphCallsByAddress = 0xfffffffd;  // function that calls a computed address, prototype
constexpr std::size_t kMaxFunctions = 4096;
constexpr std::size_t kMaxInstructions = 2'000'000;  // of all kernels; ptxas cannot make as many within its time limit
constexpr std::size_t kMaxCopied = 250'000;          // called functions' instructions, copied into their kernels

struct Section {
  std::string_view name, bytes;
  std::uint32_t type = 0, link = 0, info = 0;
  std::uint64_t size = 0;
};

struct Symbol {
  std::string_view name;
  std::uint8_t other = 0;
  std::uint16_t section = 0;
  std::uint64_t value = 0, size = 0;
};

struct Function {
  std::string_view name;
  std::uint32_t symbol = 0, section = 0;
  int registers = 0;
  std::uint64_t own_shared_bytes = 0;
  std::uint64_t frame_bytes = 0;
  // In code that is not relocatable, functions that a kernel calls are parts of it. stack_bytes: with their frames, but
  // 0 for recursive ones; inner_frame_bytes: the sum of their frames.
  std::uint64_t stack_bytes = 0, inner_frame_bytes = 0;
  std::vector<std::size_t> callees;                         // indices of functions
  std::map<std::uint32_t, std::uint64_t> shared_variables;  // symbol, bytes; only for functions that are not kernels
  bool is_kernel = false;
  std::vector<MachineInstruction> code;
};

// Reads little-endian integers; never reads outside `bytes`.
template <class T>
std::optional<T> read(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::optional<std::string_view> slice(std::string_view bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) return std::nullopt;
  return bytes.substr(offset, size);
}

// Returns the NUL-terminated text at an offset in a string table.
std::optional<std::string_view> text_at(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size()) return std::nullopt;
  const std::size_t end = table.find('\0', offset);
  if (end == std::string_view::npos) return std::nullopt;
  return table.substr(offset, end - offset);
}

// Appends a function's code and shifts its branch targets, which stay within the function.
void append(const std::vector<MachineInstruction>& callee, std::vector<MachineInstruction>& code) {
  const auto first = static_cast<std::int32_t>(code.size());
  for (MachineInstruction in : callee) {
    if (in.target >= 0) in.target += first;
    code.push_back(in);
  }
}

class CubinReader {
 public:
  explicit CubinReader(std::string_view bytes) : bytes_(bytes) {}

  // These read the file, in this order. Those that return a bool return false if the file is inconsistent.
  bool read_sections();
  bool read_symbols();
  bool read_functions();
  bool read_info();
  bool read_calls();
  bool read_shared_variables();
  void read_code();

  bool too_many_functions() const { return functions_.size() > kMaxFunctions; }
  std::vector<KernelResources> kernels() const;

 private:
  bool read_section(std::uint64_t offset, std::vector<std::uint32_t>& name_offsets);
  const Section* section(std::string_view name) const;
  Function* function_of(std::uint32_t symbol);
  std::uint64_t deepest_stack(std::size_t function, std::vector<std::optional<std::uint64_t>>& known) const;
  std::vector<std::size_t> reachable(std::size_t function) const;

  std::string_view bytes_;
  std::vector<Section> sections_;
  std::vector<Symbol> symbols_;
  std::vector<Function> functions_;
  std::map<std::uint32_t, std::size_t> by_symbol_, by_section_;
};

bool CubinReader::read_section(std::uint64_t offset, std::vector<std::uint32_t>& name_offsets) {
  const auto header = slice(bytes_, offset, 64);
  if (!header) return false;
  Section section;
  name_offsets.push_back(*read<std::uint32_t>(*header, 0));
  section.type = *read<std::uint32_t>(*header, 4);
  section.size = *read<std::uint64_t>(*header, 32);
  section.link = *read<std::uint32_t>(*header, 40);
  section.info = *read<std::uint32_t>(*header, 44);
  // Shared memory sections have a size but no bytes in the file, so `bytes` stays empty.
  section.bytes = slice(bytes_, *read<std::uint64_t>(*header, 24), section.size).value_or(std::string_view());
  sections_.push_back(section);
  return true;
}

bool CubinReader::read_sections() {
  if (!bytes_.starts_with(std::string_view("\x7f"
                                           "ELF\x02\x01",
                                           6)))
    return false;
  if (read<std::uint16_t>(bytes_, 18) != kMachineCuda || read<std::uint16_t>(bytes_, 58) != 64) return false;
  const auto table = read<std::uint64_t>(bytes_, 40);
  const auto count = read<std::uint16_t>(bytes_, 60), names = read<std::uint16_t>(bytes_, 62);
  if (!table || !count || !names || *table > bytes_.size() || *names >= *count) return false;
  std::vector<std::uint32_t> name_offsets;
  for (std::uint64_t i = 0; i < *count; ++i) {
    if (!read_section(*table + 64 * i, name_offsets)) return false;
  }
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    const auto name = text_at(sections_[*names].bytes, name_offsets[i]);
    if (!name) return false;
    sections_[i].name = *name;
  }
  return true;
}

bool CubinReader::read_symbols() {
  for (const Section& section : sections_) {
    if (section.type != kTypeSymbols) continue;
    for (std::uint64_t at = 0; at + 24 <= section.bytes.size(); at += 24) {
      const std::string_view names = section.link < sections_.size() ? sections_[section.link].bytes : "";
      symbols_.push_back({.name = text_at(names, *read<std::uint32_t>(section.bytes, at)).value_or(""),
                          .other = *read<std::uint8_t>(section.bytes, at + 5),
                          .section = *read<std::uint16_t>(section.bytes, at + 6),
                          .value = *read<std::uint64_t>(section.bytes, at + 8),
                          .size = *read<std::uint64_t>(section.bytes, at + 16)});
    }
    return true;
  }
  return false;
}

const Section* CubinReader::section(std::string_view name) const {
  const auto found =
      std::find_if(sections_.begin(), sections_.end(), [&](const Section& section) { return section.name == name; });
  return found != sections_.end() ? &*found : nullptr;
}

bool CubinReader::read_functions() {
  constexpr std::string_view kText = ".text.", kShared = ".nv.shared.";
  std::map<std::string_view, std::uint64_t> shared_bytes;
  // From sm_90 on, the shared memory of a kernel that is not linked any more begins with what the system reserves. The
  // machine file adds that to every block (reserved_shared_bytes_per_block).
  constexpr std::uint64_t kReserved = 1024;
  const std::uint64_t reserved = section(".nv.shared.reserved.0") != nullptr ? kReserved : 0;
  for (const Section& section : sections_) {
    if (!section.name.starts_with(kShared)) continue;
    shared_bytes[section.name.substr(kShared.size())] = section.size - std::min(section.size, reserved);
  }
  for (std::uint32_t i = 0; i < sections_.size() && !too_many_functions(); ++i) {
    if (!sections_[i].name.starts_with(kText)) continue;
    Function function{.name = sections_[i].name.substr(kText.size()),
                      .symbol = sections_[i].info & 0xffffff,
                      .section = i,
                      .callees = {},
                      .shared_variables = {},
                      .code = {}};
    if (function.symbol >= symbols_.size()) return false;
    function.is_kernel = (symbols_[function.symbol].other & kSymbolIsEntry) != 0;
    function.own_shared_bytes = shared_bytes[function.name];
    by_symbol_[function.symbol] = functions_.size();
    by_section_[i] = functions_.size();
    functions_.push_back(std::move(function));
  }
  return true;
}

Function* CubinReader::function_of(std::uint32_t symbol) {
  const auto found = by_symbol_.find(symbol);
  return found != by_symbol_.end() ? &functions_[found->second] : nullptr;
}

bool CubinReader::read_info() {
  const Section* info = section(".nv.info");
  if (info == nullptr) return functions_.empty();
  const std::string_view bytes = info->bytes;
  for (std::uint64_t at = 0; at < bytes.size();) {
    const auto format = read<std::uint8_t>(bytes, at), attribute = read<std::uint8_t>(bytes, at + 1);
    const auto size = read<std::uint16_t>(bytes, at + 2);
    if (!format || !attribute || !size) return false;
    if (*format == kFormatSized && (*attribute == kAttributeFrameSize || *attribute == kAttributeMinStackSize ||
                                    *attribute == kAttributeRegisters)) {
      const auto symbol = read<std::uint32_t>(bytes, at + 4), value = read<std::uint32_t>(bytes, at + 8);
      if (!symbol || !value) return false;
      Function* function = function_of(*symbol);
      if (function != nullptr && *attribute == kAttributeFrameSize) function->frame_bytes = *value;
      if (function == nullptr && *attribute == kAttributeFrameSize && *symbol < symbols_.size()) {
        const auto owner = by_section_.find(symbols_[*symbol].section);
        if (owner != by_section_.end()) functions_[owner->second].inner_frame_bytes += *value;
      }
      if (function != nullptr && *attribute == kAttributeMinStackSize) function->stack_bytes = *value;
      if (function != nullptr && *attribute == kAttributeRegisters) {
        function->registers = static_cast<int>(std::min(*value, kMostRegisters));
      }
    }
    at += 4u + (*format == kFormatSized ? *size : 0u);
  }
  return true;
}

// Reads the call graph. A function that calls an address may call any function whose address is taken, because
// addresses can pass through memory and casts. Such a call is represented by a call of an extra function without code,
// whose callees are all functions whose address is taken.
bool CubinReader::read_calls() {
  const Section* graph = section(".nv.callgraph");
  if (graph == nullptr) return true;
  std::uint32_t marker = 0;
  std::set<std::size_t> address_taken, calls_by_address;
  for (std::uint64_t at = 0; at + 8 <= graph->bytes.size(); at += 8) {
    const auto from = *read<std::uint32_t>(graph->bytes, at), to = *read<std::uint32_t>(graph->bytes, at + 4);
    if (to >= kGraphFirstMarker) {
      marker = to;
      continue;
    }
    const auto function = by_symbol_.find(from);
    if (function == by_symbol_.end()) continue;
    if (marker == kGraphCalls && by_symbol_.contains(to))
      functions_[function->second].callees.push_back(by_symbol_[to]);
    if (marker == kGraphAddressTaken) address_taken.insert(function->second);
    if (marker == kGraphCallsByAddress) calls_by_address.insert(function->second);
  }
  for (const std::size_t caller : calls_by_address) functions_[caller].callees.push_back(functions_.size());
  functions_.push_back(
      {.name = {}, .callees = {address_taken.begin(), address_taken.end()}, .shared_variables = {}, .code = {}});
  for (Function& function : functions_) {  // a function may call another thousands of times
    std::vector<std::size_t>& callees = function.callees;
    std::sort(callees.begin(), callees.end());
    callees.erase(std::unique(callees.begin(), callees.end()), callees.end());
  }
  return true;
}

// Reads the shared variables of functions that are not kernels. These variables get a section only at link time; until
// then, a function's relocations tell which ones it uses.
bool CubinReader::read_shared_variables() {
  for (const Section& section : sections_) {
    if (section.type != kTypeRel && section.type != kTypeRela) continue;
    const auto owner = by_section_.find(section.info);
    if (owner == by_section_.end()) continue;
    const std::uint64_t step = section.type == kTypeRel ? 16 : 24;
    for (std::uint64_t at = 0; at + step <= section.bytes.size(); at += step) {
      const auto symbol = static_cast<std::uint32_t>(*read<std::uint64_t>(section.bytes, at + 8) >> 32);
      if (symbol >= symbols_.size()) return false;
      const std::uint16_t home = symbols_[symbol].section;
      if (home < sections_.size() && sections_[home].name == ".nv_debug.shared") {
        functions_[owner->second].shared_variables[symbol] = symbols_[symbol].size;
      }
    }
  }
  return true;
}

// Reads the functions' instructions, each with its PTX line. Reads nothing if the cubin has no table of PTX lines.
void CubinReader::read_code() {
  constexpr std::string_view kLines = ".nv_debug_line_sass";
  const Section* lines = section(kLines);
  if (lines == nullptr) return;
  std::map<std::uint64_t, CodeAddress> homes;  // code addresses, by the offset in `lines` that refers to them
  for (const Section& table : sections_) {
    const bool has_addend = table.type == kTypeRela;
    if ((table.type != kTypeRel && !has_addend) || table.info >= sections_.size() || &sections_[table.info] != lines)
      continue;
    const std::uint64_t step = has_addend ? 24 : 16;
    for (std::uint64_t at = 0; at + step <= table.bytes.size(); at += step) {
      const auto symbol = static_cast<std::uint32_t>(*read<std::uint64_t>(table.bytes, at + 8) >> 32);
      if (symbol >= symbols_.size()) continue;
      const std::uint64_t addend = has_addend ? *read<std::uint64_t>(table.bytes, at + 16) : 0;
      homes[*read<std::uint64_t>(table.bytes, at)] = {symbols_[symbol].section, addend};
    }
  }
  const int architecture = static_cast<int>(read<std::uint32_t>(bytes_, 48).value_or(0) >> 8 & 0xff);
  std::size_t left = kMaxInstructions;
  std::map<std::uint32_t, std::vector<LineRow>> rows = read_line_table(lines->bytes, homes);
  for (Function& function : functions_) {
    const std::string_view text = sections_[function.section].bytes;
    const auto found = rows.find(function.section);
    if (found == rows.end() || text.size() / kInstructionBytes > left) continue;
    left -= text.size() / kInstructionBytes;
    // Behind a kernel are ptxas' own subroutines, for unusual operands of a division, say: they have no lines.
    for (const Symbol& symbol : symbols_) {
      if (symbol.section == function.section && symbol.name.starts_with("$__internal_"))
        found->second.push_back({symbol.value, 0});
    }
    function.code = read_machine_code(text, architecture, std::move(found->second));
  }
}

// Returns the functions that a function may call, itself among them, in ascending order.
std::vector<std::size_t> CubinReader::reachable(std::size_t function) const {
  std::vector<bool> seen(functions_.size());
  std::vector<std::size_t> all{function};
  seen[function] = true;
  for (std::size_t next = 0; next < all.size(); ++next) {
    for (const std::size_t callee : functions_[all[next]].callees) {
      if (seen[callee]) continue;
      seen[callee] = true;
      all.push_back(callee);
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::uint64_t CubinReader::deepest_stack(std::size_t function, std::vector<std::optional<std::uint64_t>>& known) const {
  if (known[function]) return *known[function];
  known[function] = 0;  // avoids endless recursion: a recursive call adds nothing
  std::uint64_t below = 0;
  for (const std::size_t callee : functions_[function].callees) below = std::max(below, deepest_stack(callee, known));
  known[function] = functions_[function].frame_bytes + below;
  return *known[function];
}

std::vector<KernelResources> CubinReader::kernels() const {
  constexpr std::uint64_t kMost = 1 << 30;  // larger values are reduced to this, which fits an int and is refused later
  std::vector<KernelResources> kernels;
  std::size_t copied = 0;
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    const Function& kernel = functions_[i];
    if (!kernel.is_kernel) continue;
    int registers = 0;
    std::map<std::uint32_t, std::uint64_t> variables;
    std::vector<MachineInstruction> code = kernel.code;
    for (const std::size_t used : reachable(i)) {
      if (used != i && !code.empty() && copied + functions_[used].code.size() <= kMaxCopied) {
        copied += functions_[used].code.size();
        append(functions_[used].code, code);
      }
      registers = std::max(registers, functions_[used].registers);
      variables.insert(functions_[used].shared_variables.begin(), functions_[used].shared_variables.end());
    }
    std::uint64_t shared_bytes = std::min(kernel.own_shared_bytes, kMost);
    for (const auto& [symbol, size] : variables) shared_bytes = std::min(shared_bytes + std::min(size, kMost), kMost);
    std::vector<std::optional<std::uint64_t>> known(functions_.size());
    kernels.push_back({.name = std::string(kernel.name),
                       .registers_per_thread = registers,
                       .static_shared_bytes = static_cast<int>(shared_bytes),
                       .local_bytes_per_thread = static_cast<int>(std::min(
                           std::max(deepest_stack(i, known) + kernel.inner_frame_bytes, kernel.stack_bytes), kMost)),
                       .code = std::move(code)});
  }
  return kernels;
}

}  // namespace

Result<std::vector<KernelResources>> read_cubin(std::string_view bytes, const std::string& source) {
  CubinReader reader(bytes);
  if (!reader.read_sections() || !reader.read_symbols() || !reader.read_functions()) {
    return Error{.message = "ptxas wrote a file that is not a whole cubin",
                 .advice = "if the disk is full, free some space; then give the same command again"};
  }
  if (reader.too_many_functions()) return Error{.message = "the file holds more than 4096 functions", .file = source};
  if (!reader.read_info() || !reader.read_calls() || !reader.read_shared_variables()) {
    return Error{.message = "ptxas wrote a cubin that contradicts itself"};
  }
  reader.read_code();
  return reader.kernels();
}

}  // namespace roofwalk
