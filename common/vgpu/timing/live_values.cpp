#include "common/vgpu/timing/live_values.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/vgpu/program/operands.h"

namespace roofwalk::vgpu {

using ptx::Form;
using ptx::Instruction;
using ptx::Operand;

namespace {

constexpr std::uint32_t kWordBytes = 4, kMostWordsOfOne = 64;

bool has_form(const Instruction& in, Form form) { return ptx::info(in.opcode).form == form; }

}  // namespace

HandedWords::HandedWords(const Program& program)
    : program_(program), registers_(static_cast<int>(program.function->registers.size())), next_(registers_) {
  if (program.linked == nullptr) return;
  for (const ptx::Variable& variable : program.function->variables) {
    const auto at = program.locals.find(variable.name);
    if (variable.space == ptx::Space::param && at != program.locals.end())
      words_[variable.name] = new_words(at->second.second);
  }
  const auto& code = program.function->instructions;
  for (std::uint32_t pc = 0; pc < code.size(); ++pc) find_access(pc);
  for (const Op& op : program.ops) {
    if (op.instruction == nullptr || !has_form(*op.instruction, Form::call) || !calls_linked(*op.instruction)) continue;
    std::size_t site = static_cast<std::size_t>(op.offset);
    if (calls_through_pointer(*op.instruction)) {
      if (program.call_targets[site].empty()) continue;
      site = program.call_targets[site].front().site;
    }
    find_call(op.pc, program.calls[site]);
  }
  find_returns();
  find_across_blocks();
}

// Gives a variable words of its own. When all words are used up, all further variables share the last word.
HandedWords::Place HandedWords::new_words(std::uint32_t bytes) {
  const int left = static_cast<int>(kMostHandedWords) - (next_ - registers_);
  const std::uint32_t word = std::max(kWordBytes, (bytes + kMostWordsOfOne - 1) / kMostWordsOfOne);
  const auto count = static_cast<int>(std::max((bytes + word - 1) / word, 1u));
  if (count < left) return {std::exchange(next_, next_ + count), count, word};
  last_ = registers_ + static_cast<int>(kMostHandedWords) - 1;
  next_ = last_ + 1;
  return {last_, 1, ~0u};
}

HandedWords::Place HandedWords::place(const Operand& operand) const {
  if (operand.kind == Operand::Kind::reg) return {operand.index, 1, 0};
  const auto found = words_.find(operand.symbol);
  return found == words_.end() ? Place{} : found->second;
}

// Records the moves from one place to another: word by word if both have equally many words; otherwise each word of
// `to` may receive any word of `from`.
void HandedWords::move(const Place& from, const Place& to, bool keeps, std::vector<Move>& out) const {
  for (int i = 0; i < to.count; ++i) {
    const bool alike = from.count == to.count;
    const Move one{to.first + i, alike ? from.first + i : from.first, alike ? 1 : from.count,
                   keeps || to.first + i == last_};
    if (one.to != one.from || one.count != 1) out.push_back(one);
  }
}

// Finds the moves of a load or store of a variable that is kept in words. A store to part of a word may leave the
// word's old value in place.
void HandedWords::find_access(std::uint32_t pc) {
  const Instruction& in = program_.function->instructions[pc];
  const bool store = has_form(in, Form::store);
  if (!store && !has_form(in, Form::load)) return;
  const auto found = words_.find(in.operands[store ? 0 : 1].symbol);
  if (found == words_.end()) return;
  const Place& variable = found->second;
  const Operand& data = in.operands[store ? 1 : 0];
  const std::span<const Operand> parts =
      data.kind == Operand::Kind::vector ? std::span<const Operand>(data.elements) : std::span(&data, 1);
  const auto width = static_cast<std::int64_t>(std::max(ptx::size_bytes(in.type), 1));
  constexpr std::int64_t kFar = 1 << 24;  // larger than any variable
  std::int64_t at = std::clamp<std::int64_t>(in.operands[store ? 0 : 1].offset, 0, kFar);
  for (const Operand& part : parts) {
    const std::int64_t word = variable.word_bytes, end = at + width;
    const auto clamped = [&](std::int64_t index) { return std::clamp<std::int64_t>(index, 0, variable.count - 1); };
    const auto first = static_cast<int>(clamped(at / word)), last = static_cast<int>(clamped((end - 1) / word));
    const Place words{variable.first + first, last - first + 1, variable.word_bytes};
    const Place value = part.kind == Operand::Kind::reg ? Place{part.index, 1, 0} : Place{};
    const bool whole = at % word == 0 && end % word == 0;
    if (store) move(value, words, !whole || in.guard >= 0, at_[pc]);
    if (!store && value.count != 0) move(words, value, in.guard >= 0, at_[pc]);
    at = end;
  }
}

void HandedWords::find_call(std::uint32_t pc, const CallSite& site) {
  const Instruction& in = program_.function->instructions[pc];
  const std::size_t argument_count = site.arguments.size(), result_count = site.results.size();
  const bool through_pointer = calls_through_pointer(in);
  const std::span<const Operand> callees =
      through_pointer ? std::span<const Operand>(in.operands[1].elements) : std::span(in.operands.data(), 1);
  for (std::size_t c = 0; c < callees.size(); ++c) {
    for (std::size_t i = 0; i < argument_count; ++i) {
      const Place from = place(in.call_arguments[i]);
      const Place to = place(in.call_results[result_count + c * argument_count + i]);
      // Between two PTX registers, the call instruction itself is the move: it reads and writes them like any
      // instruction.
      if (from.word_bytes != 0 || to.word_bytes != 0) move(from, to, false, at_[pc]);
    }
    const auto first = static_cast<std::uint32_t>(callees[c].index);
    if (through_pointer) behind_pointers_.insert(first);
    std::vector<Place>& results = results_[first];
    results.clear();
    for (std::size_t i = 0; i < result_count; ++i)
      results.push_back(place(in.call_arguments[argument_count + c * result_count + i]));
  }
  for (std::size_t i = 0; i < result_count; ++i) {
    const Place to = place(in.call_results[i]);
    Place from = results_[static_cast<std::uint32_t>(callees[0].index)][i];
    if (through_pointer) {
      while (found_.size() <= i) found_.push_back(new_words(kWordBytes * kMostWordsOfOne));
      from = found_for(from, i);
    }
    move(from, to, in.guard >= 0, before_[pc + 1]);
  }
}

// Returns the words where a call through a pointer looks for result `i`. Of the functions that it may call, one may
// return the result in a register and another in two words, so a register counts as two words.
HandedWords::Place HandedWords::found_for(const Place& result, std::size_t i) const {
  constexpr int kWordsOfARegister = 2;
  const int count = result.word_bytes == 0 ? kWordsOfARegister : result.count;
  return {found_[i].first, std::min(count, found_[i].count), found_[i].word_bytes};
}

// A function that is called through a pointer also moves its results to the words where the call looks for them. The
// lanes of a warp may have called different functions, one after the other, so a reader of the result waits for all of
// them.
void HandedWords::find_returns() {
  const auto& code = program_.function->instructions;
  auto function = results_.begin();
  for (std::uint32_t pc = 0; pc < code.size(); ++pc) {
    while (function != results_.end() && std::next(function) != results_.end() && std::next(function)->first <= pc)
      ++function;
    if (!has_form(code[pc], Form::leave) || function == results_.end() || function->first > pc) continue;
    if (!behind_pointers_.contains(function->first)) continue;
    for (std::size_t i = 0; i < function->second.size() && i < found_.size(); ++i) {
      const Place& from = function->second[i];
      move(from, found_for(from, i), true, at_[pc]);
    }
  }
}

void HandedWords::find_across_blocks() {
  across_blocks_.assign(static_cast<std::size_t>(next_ - registers_), false);
  // By word: the basic block that accessed it last; kExitBlock: none.
  std::vector<std::uint32_t> home(across_blocks_.size(), kExitBlock);
  for (std::uint32_t b = 0; b < program_.blocks.size(); ++b) {
    const auto touch = [&](int reg, bool reads) {
      if (reg < registers_) return;
      const auto word = static_cast<std::size_t>(reg - registers_);
      if (home[word] != b && (reads || home[word] != kExitBlock)) across_blocks_[word] = true;
      home[word] = b;
    };
    const auto touch_all = [&](std::span<const Move> moves) {
      for (const Move& each : moves) {
        for (int i = 0; i < each.count; ++i) touch(each.from + i, true);
        touch(each.to, each.keeps);
      }
    };
    const BasicBlock& block = program_.blocks[b];
    touch_all(before(block.first));
    for (std::uint32_t pc = block.first; pc < block.first + block.count; ++pc) touch_all(at(pc));
  }
}

}  // namespace roofwalk::vgpu
