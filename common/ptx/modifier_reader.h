// Reads modifiers word by word. Private to this layer; modifiers.cpp chooses a reader by the instruction's form.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/ptx/module.h"
#include "common/ptx/names.h"

namespace roofwalk::ptx {

using Reason = std::optional<std::string>;  // why a form is refused; an empty string: it is merely not supported
inline const Reason kFine = std::nullopt;
inline const Reason kUnsupported = std::string{};

class ModifierReader {
 public:
  explicit ModifierReader(std::span<const std::string_view> words) : words_(words) {}

  bool take(std::string_view word) {
    const bool here = at_ < words_.size() && words_[at_] == word;
    at_ += here;
    return here;
  }
  template <class Value>
  bool take(std::span<const Name<Value>> names, Value& value) {
    if (at_ >= words_.size()) return false;
    const auto found = find_name(names, words_[at_]);
    if (!found) return false;
    value = *found;
    ++at_;
    return true;
  }
  bool take_type(TypeSet types, Type& type) {
    Type found{};
    const std::size_t before = at_;
    if (!take(kTypeNames, found) || (types & bit(found)) == 0) {
      at_ = before;
      return false;
    }
    type = found;
    return true;
  }
  bool take_any(std::initializer_list<std::string_view> words) {
    for (const std::string_view word : words) {
      if (take(word)) return true;
    }
    return false;
  }
  bool at_end() const { return at_ == words_.size(); }
  std::span<const std::string_view> rest() const { return words_.subspan(at_); }
  Reason finish() const { return at_end() ? kFine : kUnsupported; }

 private:
  std::span<const std::string_view> words_;
  std::size_t at_ = 0;
};

inline bool take_scope(ModifierReader& reader, Instruction& i) {
  i.of_block = reader.take(".cta");
  return i.of_block || reader.take_any({".gpu", ".sys"});
}
inline bool take_shared(ModifierReader& reader) { return reader.take_any({".shared", ".shared::cta"}); }

// arithmetic_modifiers.cpp
Reason read_arithmetic(ModifierReader& reader, Instruction& i);
Reason read_carry(ModifierReader& reader, Instruction& i);
Reason read_convert(ModifierReader& reader, Instruction& i);
Reason read_compare(ModifierReader& reader, Instruction& i);
Reason read_set(ModifierReader& reader, Instruction& i);

// memory_modifiers.cpp
Reason read_memory(ModifierReader& reader, Instruction& i);
Reason read_cache_policy(ModifierReader& reader, Instruction& i);
Reason read_async_copy(ModifierReader& reader, Instruction& i);
Reason read_atomic(ModifierReader& reader, Instruction& i);

// matrix_modifiers.cpp
Reason read_matrix_load(ModifierReader& reader, Instruction& i);
Reason read_matrix_multiply(ModifierReader& reader, Instruction& i);
Reason read_fragment_multiply(ModifierReader& reader, Instruction& i);
Reason read_fragment(ModifierReader& reader, Instruction& i);

}  // namespace roofwalk::ptx
