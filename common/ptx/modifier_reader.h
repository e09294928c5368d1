// Reads modifiers. Private to this layer; modifiers.cpp chooses a reader by the instruction's form.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/ptx/module.h"
#include "common/ptx/names.h"

namespace roofwalk::ptx {

using Reason = std::optional<std::string>;  // why a form is refused; an empty string: it is merely not supported
inline const Reason kFine = std::nullopt;
inline const Reason kUnsupported = std::string{};

// ptxas takes modifiers in any order: `ld.acquire.gpu.global.b32` is also `ld.global.acquire.gpu.b32` (CUTLASS), and
// `vote.sync.ballot.b32` is also `vote.ballot.sync.b32` (CUB). So a word is taken wherever it stands. Only words of one
// kind keep their order: the types of a conversion, the layouts of a matrix product.
class ModifierReader {
 public:
  explicit ModifierReader(std::span<const std::string_view> words) : left_(words.begin(), words.end()) {}

  bool take(std::string_view word) {
    const auto found = std::ranges::find(left_, word);
    if (found == left_.end()) return false;
    left_.erase(found);
    return true;
  }
  // Takes the first word that is one of the names.
  template <class Value>
  bool take(std::span<const Name<Value>> names, Value& value) {
    return take_if(names, value, [](Value) { return true; });
  }
  // Takes the first word that names a type, if it is one of `types`.
  bool take_type(TypeSet types, Type& type) {
    return take_if(kTypeNames, type, [&](Type named) { return (types & bit(named)) != 0; });
  }
  // Takes the first word that is one of these.
  bool take_any(std::initializer_list<std::string_view> words) {
    const auto found = std::ranges::find_first_of(left_, words);
    if (found == left_.end()) return false;
    left_.erase(found);
    return true;
  }
  // Takes both words, of which `first` must stand before `second`.
  bool take_in_order(std::string_view first, std::string_view second) {
    return std::ranges::find(left_, first) < std::ranges::find(left_, second) && take(first) && take(second);
  }
  bool at_end() const { return left_.empty(); }
  Reason finish() const { return at_end() ? kFine : kUnsupported; }

 private:
  template <class Value, class Accepted>
  bool take_if(std::span<const Name<Value>> names, Value& value, Accepted&& accepted) {
    for (auto word = left_.begin(); word != left_.end(); ++word) {
      const auto named = find_name(names, *word);
      if (!named) continue;
      if (!accepted(*named)) return false;
      value = *named;
      left_.erase(word);
      return true;
    }
    return false;
  }

  std::vector<std::string_view> left_;  // in the order of the text
};

inline bool take_scope(ModifierReader& reader, Instruction& i) {
  i.of_block = reader.take(".cta");
  return i.of_block || reader.take_any({".gpu", ".sys"});
}
inline bool take_shared(ModifierReader& reader) { return reader.take_any({".shared", ".shared::cta"}); }

// arithmetic_modifiers.cpp
Reason read_arithmetic(ModifierReader& reader, Instruction& i);
Reason read_carry(ModifierReader& reader, Instruction& i);
Reason read_number_test(ModifierReader& reader, Instruction& i);
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
