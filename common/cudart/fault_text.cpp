#include "common/cudart/fault_text.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "common/base/demangle.h"

namespace roofwalk::cudart {
namespace {

std::string place_text(const Dim3& at) {
  return at.y == 0 && at.z == 0 ? fmt::format("{}", at.x) : fmt::format("({},{},{})", at.x, at.y, at.z);
}

// The message with the argument's name and elements in place of the allocation's name and bytes.
std::string message_of(const Fault& fault, const std::string& mangled, const std::vector<PointerArgument>& pointers) {
  const auto pointer = std::find_if(pointers.begin(), pointers.end(),
                                    [&](const PointerArgument& each) { return each.buffer == fault.buffer; });
  const std::size_t at = fault.message.find(" " + fault.buffer);
  const bool is_unset = fault.kind == FaultKind::uninitialized;
  if ((fault.kind != FaultKind::out_of_bounds && !is_unset) || !fault.index || fault.buffer.empty() ||
      at == std::string::npos || !fault.buffer.starts_with(kAllocation)) {
    return fault.message;
  }
  std::string name = fault.buffer;
  std::size_t bytes = 0;
  if (pointer != pointers.end()) {
    name = fmt::format("argument {}", pointer->number + 1);
    const std::vector<std::string> types = parameters_of(demangled(mangled).value_or(""));
    if (pointer->number < types.size()) bytes = element_bytes(types[pointer->number]);
  }
  // "out of bounds: writes ", for "writes allocation 7[4000]" and for "writes byte 4000 of allocation 7".
  const std::string begin = fault.message.substr(0, std::min(at, fault.message.find(" byte ")) + 1);
  if (is_unset) {
    const std::size_t end = std::min(fault.message.find(']', at), fault.message.size());
    const std::string what = bytes == 0 ? fmt::format("byte {} of {}", *fault.index, name)
                                        : fmt::format("{}[{}]", name, *fault.index / static_cast<std::int64_t>(bytes));
    return begin + what + fault.message.substr(std::min(end + 1, fault.message.size()));
  }
  if (bytes == 0) return fmt::format("{}byte {} of {}, which holds {} bytes", begin, *fault.index, name, fault.extent);
  const auto size = static_cast<std::int64_t>(bytes);
  const std::int64_t index = *fault.index >= 0 ? *fault.index / size : -((-*fault.index + size - 1) / size);
  const std::uint64_t count = fault.extent / bytes;
  return fmt::format("{}{}[{}], but {} holds {} element{}", begin, name, index, name, count, count == 1 ? "" : "s");
}

}  // namespace

std::string fault_text(const Fault& fault, const std::string& mangled, const std::vector<PointerArgument>& pointers) {
  std::string text;
  if (!fault.file.empty()) text += fault.file + ":";
  if (fault.line > 0) text += fmt::format("{}:", fault.line);
  if (!text.empty()) text += " ";
  text += fmt::format("{} (kernel {}", message_of(fault, mangled, pointers), fault.kernel);
  if (fault.kind != FaultKind::resource && fault.kind != FaultKind::runaway)
    text += fmt::format(", block {}, thread {}", place_text(fault.block), place_text(fault.thread));
  return text + ")";
}

std::size_t element_bytes(std::string_view parameter) {
  struct Type {
    std::string_view name;
    std::size_t bytes;
  };
  static constexpr std::array kTypes = {Type{"float", 4},         Type{"double", 8},
                                        Type{"int", 4},           Type{"unsigned int", 4},
                                        Type{"char", 1},          Type{"signed char", 1},
                                        Type{"unsigned char", 1}, Type{"bool", 1},
                                        Type{"short", 2},         Type{"unsigned short", 2},
                                        Type{"long", 8},          Type{"unsigned long", 8},
                                        Type{"long long", 8},     Type{"unsigned long long", 8},
                                        Type{"__half", 2},        Type{"__half2", 4},
                                        Type{"__nv_bfloat16", 2}, Type{"float2", 8},
                                        Type{"float3", 12},       Type{"float4", 16},
                                        Type{"double2", 16},      Type{"int2", 8},
                                        Type{"int4", 16},         Type{"uint2", 8},
                                        Type{"uint4", 16},        Type{"uchar4", 4}};
  if (std::count(parameter.begin(), parameter.end(), '*') != 1) return 0;
  std::string_view type = parameter.substr(0, parameter.find('*'));
  for (const std::string_view word : {" const", " volatile"}) {
    if (type.ends_with(word)) type.remove_suffix(word.size());
  }
  const auto* const found =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const Type& each) { return each.name == type; });
  return found == kTypes.end() ? 0 : found->bytes;
}

std::vector<std::string> parameters_of(std::string_view demangled) {
  std::vector<std::string> types;
  const std::size_t end = demangled.rfind(')');
  if (end == std::string_view::npos) return types;
  // The parenthesis that belongs to the last one.
  std::size_t begin = end;
  for (int depth = 0; begin > 0; --begin) {
    if (demangled[begin] == ')') ++depth;
    if (demangled[begin] == '(' && --depth == 0) break;
  }
  int depth = 0;
  std::string type;
  for (const char c : demangled.substr(begin + 1, end - begin - 1)) {
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    if (c == ',' && depth == 0) {
      types.push_back(std::move(type));
      type.clear();
    } else if (c != ' ' || !type.empty()) {
      type += c;
    }
  }
  if (!type.empty()) types.push_back(std::move(type));
  return types;
}

}  // namespace roofwalk::cudart
