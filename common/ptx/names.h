// Tables of modifier words, one per enumeration, for parsing and for messages.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "common/ptx/module.h"

namespace roofwalk::ptx {

template <class Value>
struct Name {
  std::string_view word;  // with its dot
  Value value;
};

extern const std::span<const Name<Type>> kTypeNames;
extern const std::span<const Name<Rounding>> kRoundingNames;
extern const std::span<const Name<MulMode>> kMulModeNames;
extern const std::span<const Name<Compare>> kCompareNames;
extern const std::span<const Name<NumberTest>> kNumberTestNames;
extern const std::span<const Name<BoolOp>> kBoolOpNames;
extern const std::span<const Name<AtomicOp>> kAtomicOpNames;
extern const std::span<const Name<ShuffleMode>> kShuffleModeNames;
extern const std::span<const Name<VoteMode>> kVoteModeNames;
extern const std::span<const Name<MbarrierMode>> kMbarrierModeNames;
extern const std::span<const Name<PermuteMode>> kPermuteModeNames;
extern const std::span<const Name<Fragment>> kFragmentNames;
extern const std::span<const Name<Space>> kSpaceNames;
extern const std::span<const Name<CacheHint>> kLoadCacheNames;
extern const std::span<const Name<CacheHint>> kStoreCacheNames;

// A special register. `word` is its name without a component: "%tid".
struct SpecialInfo {
  std::string_view word;
  SpecialRegister value;
  bool has_component;
  Type type;
};
const SpecialInfo* find_special(std::string_view word);

template <class Value>
std::optional<Value> find_name(std::span<const Name<Value>> names, std::string_view word) {
  for (const Name<Value>& name : names) {
    if (name.word == word) return name.value;
  }
  return std::nullopt;
}

// Returns the opcode with the mnemonic `word`. Some mnemonics include a modifier ("wmma.load"): if the first word alone
// is no opcode, the caller tries the word together with the first modifier.
std::optional<Opcode> find_opcode(std::string_view word);

// An instruction listed in refused.def.
struct RefusedInstruction {
  std::string_view begin, modifier, why;
};
extern const std::span<const RefusedInstruction> kRefusedInstructions;
// Returns why an instruction with this text and these modifiers is refused; empty if refused.def does not list it.
std::string_view why_refused(std::string_view text, std::span<const std::string_view> modifiers);

}  // namespace roofwalk::ptx
