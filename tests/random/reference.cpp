#include "tests/random/reference.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <set>
#include <stdexcept>
#include <unordered_map>

#include <fmt/format.h>

#include "tests/random/numbers.h"
#include "tests/random/reference_counts.h"

namespace roofwalk::random {
namespace {

constexpr int kMostIterations = 64;  // keeps the iteration numbers of eight loops and the line within 64 bits
constexpr std::uint64_t kMostInstructions = 4'000'000;
constexpr std::uint64_t kSharedWindow = 1ull << 60;  // start in the generic address space; the virtual GPU uses another

struct Invalid : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The threads that accessed a byte since the last barrier.
struct Touch {
  std::uint64_t phase = 0;
  int writer = -1, reader = -1;  // -1 none, -2 several
  bool atomic = false;
};

// A thread's state within one call; the first frame is the kernel's.
struct Frame {
  std::vector<Bits> registers[4];
  std::vector<std::uint8_t> known[4];
  std::vector<std::uint8_t> own;  // local memory
  std::vector<std::uint8_t> own_known;
  std::vector<int> iterations;                         // iteration of each loop
  std::uint32_t caller = 0;                            // identifies the call; the same for lanes that made it together
  std::size_t back = 0;                                // the line after the call
  using Handed = std::map<std::pair<int, int>, Bits>;  // values by parameter and field
  Handed arguments, taken;                             // passed to its callee; received from its caller
  Handed results, given;                               // returned to its caller; received from its callee
};

struct Thread {
  int number = 0, global = 0;  // thread number in the block; in the grid
  Dimensions index;
  std::size_t at = 0;  // the next line
  bool done = false;
  std::vector<Frame> frames;  // the kernel's is first
  bool carry = false, carry_known = false;
  Frame& frame() { return frames.back(); }
  const Frame& frame() const { return frames.back(); }
};

// An mbarrier. Its state, as threads see it, is the number of its phase.
struct Gate {
  std::uint64_t expected = 0, missing = 0, phase = 0;
};

class Reference {
 public:
  Reference(const Program& program, const Code& code, const std::array<std::uint64_t, kBufferCount>& addresses)
      : program_(program), code_(code), addresses_(addresses) {
    for (int b = 0; b < kBufferCount; ++b) {
      out_.buffers[b] = program.buffers[b];
      owners_[b].assign(out_.buffers[b].size(), -1);
    }
    out_.counts.resize(code.lines.size());
    for (const Line& line : code.lines) loops_ = std::max(loops_, line.code.loop + 1);
  }

  ReferenceRun run() {
    try {
      for (std::uint32_t z = 0; z < program_.grid.z; ++z) {
        for (std::uint32_t y = 0; y < program_.grid.y; ++y) {
          for (std::uint32_t x = 0; x < program_.grid.x; ++x) run_block({x, y, z});
        }
      }
    } catch (const Invalid& invalid) {
      out_.invalid = invalid.what();
    }
    for (const auto& [key, approximated] : approximated_) out_.approximated.push_back(approximated);
    return std::move(out_);
  }

 private:
  void run_block(const Dimensions& block) {
    block_ = block;
    shared_.assign(program_.shared_bytes, 0);
    shared_known_.assign(program_.shared_bytes, 0);
    touches_.assign(program_.shared_bytes, {});
    phase_ = 1;
    gates_.assign(program_.gates, {});
    calls_.clear();
    make_threads();
    meetings_.clear();
    meetings_.resize((threads_.size() + kLanes - 1) / kLanes);
    for (bool going = true; going;) {
      for (Thread& thread : threads_) run_thread(thread);
      going = meet();
    }
    for (const auto& warp : meetings_) {
      for (const auto& [key, meeting] : warp) count(meeting.line, meeting);
    }
  }

  void make_threads() {
    const std::uint32_t number_of_block = block_.x + program_.grid.x * (block_.y + program_.grid.y * block_.z);
    threads_.assign(program_.block.count(), {});
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      Thread& thread = threads_[t];
      thread.number = static_cast<int>(t);
      thread.global = static_cast<int>(number_of_block * threads_.size() + t);
      const auto linear = static_cast<std::uint32_t>(t);
      const Dimensions& shape = program_.block;
      thread.index = {linear % shape.x, linear / shape.x % shape.y, linear / shape.x / shape.y};
      thread.frames = {new_frame(program_.registers, true)};
    }
  }

  Frame new_frame(const int (&registers)[4], bool has_local) const {
    Frame out;
    for (int k = 0; k < 4; ++k) {
      out.registers[k].assign(static_cast<std::size_t>(registers[k]), 0);
      out.known[k].assign(static_cast<std::size_t>(registers[k]), 0);
    }
    out.own.assign(has_local ? program_.local_bytes : 0, 0);
    out.own_known.assign(out.own.size(), 0);
    out.iterations.assign(static_cast<std::size_t>(loops_), 0);
    return out;
  }

  static bool waits_for_others(Do what) {
    switch (what) {
      case Do::barrier:
      case Do::barrier_reduce:
      case Do::shuffle:
      case Do::vote:
      case Do::reduce:
      case Do::match:
      case Do::active_mask:
      case Do::meet:
      case Do::load_matrices:
      case Do::multiply_matrices:
      case Do::gate_wait:
        return true;
      default:
        return false;
    }
  }

  void run_thread(Thread& thread) {
    while (!thread.done && !waits_for_others(code_.lines[thread.at].code.what)) step(thread);
  }

  // --- Values.

  Bits get(const Thread& thread, Register reg) {
    const auto kind = static_cast<std::size_t>(reg.kind);
    const auto index = static_cast<std::size_t>(reg.index);
    if (thread.frame().known[kind][index] == 0) throw Invalid("reads a register that nothing has written");
    return thread.frame().registers[kind][index];
  }
  Bits get(const Thread& thread, const Operand& operand) {
    if (operand.what == Operand::What::number) return operand.bits;
    const Bits value = get(thread, operand.reg);
    return operand.negated ? value ^ 1u : value;
  }
  static void set(Thread& thread, const Operand& operand, Bits value) {
    if (operand.what == Operand::What::none) return;
    const auto kind = static_cast<std::size_t>(operand.reg.kind);
    const auto index = static_cast<std::size_t>(operand.reg.index);
    thread.frame().registers[kind][index] = low_bits(value, bits_of(operand.reg.kind));
    thread.frame().known[kind][index] = 1;
  }

  bool guard_holds(const Thread& thread, const Instruction& in) {
    return in.guard < 0 || (get(thread, Register{Kind::pred, in.guard}) != 0) != in.guard_negated;
  }

  Bits special(const Thread& thread, const std::string& name) const {
    const auto of_three = [&](const std::string& what, const Dimensions& d) -> const std::uint32_t* {
      if (!name.starts_with(what)) return nullptr;
      return name.back() == 'x' ? &d.x : name.back() == 'y' ? &d.y : &d.z;
    };
    for (const auto& [what, dimensions] : {std::pair{"%tid.", &thread.index}, std::pair{"%ntid.", &program_.block},
                                           std::pair{"%ctaid.", &block_}, std::pair{"%nctaid.", &program_.grid}}) {
      if (const std::uint32_t* value = of_three(what, *dimensions)) return *value;
    }
    const unsigned lane = static_cast<unsigned>(thread.number) % kLanes;
    if (name == "%laneid") return lane;
    const Bits equal = Bits{1} << lane, less = equal - 1, all = 0xffff'ffff;
    if (name == "%lanemask_eq") return equal;
    if (name == "%lanemask_lt") return less;
    if (name == "%lanemask_le") return less | equal;
    if (name == "%lanemask_gt") return all & ~(less | equal);
    if (name == "%lanemask_ge") return all & ~less;
    throw Invalid("has no special register " + name);
  }

  // --- Memory.

  struct Place {
    std::uint8_t* bytes = nullptr;
    std::uint8_t* known = nullptr;  // which bytes have a defined value; null: all
    int* owners = nullptr;          // global bytes only
    Touch* touches = nullptr;       // shared bytes only
    int buffer = -1;
    std::uint64_t offset = 0;
  };

  std::uint64_t address_of(const Thread& thread, const Instruction& in) {
    if (!in.has_base) return static_cast<std::uint64_t>(in.offset);  // the only variable fills its space
    const Bits base = get(thread, in.base);
    const Bits sum = base + static_cast<Bits>(in.offset);
    return in.base.kind == Kind::b32 ? low_bits(sum, 32) : sum;
  }

  Place place(Thread& thread, Space space, std::uint64_t address, std::uint64_t bytes) {
    if (space == Space::generic_shared) {
      if (address < kSharedWindow) throw Invalid("takes another address for one of shared memory");
      address -= kSharedWindow;
      space = Space::shared;
    }
    if (address % bytes != 0) throw Invalid("touches memory at a misaligned address");
    const auto within = [&](std::size_t extent) {
      if (address >= extent || bytes > extent - address) throw Invalid("touches memory out of bounds");
    };
    switch (space) {
      case Space::shared:
        within(shared_.size());
        return {&shared_[address], &shared_known_[address], nullptr, &touches_[address], -1, address};
      case Space::local:
        within(thread.frame().own.size());
        return {&thread.frame().own[address], &thread.frame().own_known[address], nullptr, nullptr, -1, address};
      case Space::constant:
        within(program_.constants.size());
        constants_ = program_.constants;
        return {&constants_[address], nullptr, nullptr, nullptr, -1, address};
      default:
        break;
    }
    for (int b = 0; b < kBufferCount; ++b) {
      if (address < addresses_[b] || address - addresses_[b] >= out_.buffers[b].size()) continue;
      address -= addresses_[b];
      within(out_.buffers[b].size());
      return {&out_.buffers[b][address], nullptr, &owners_[b][address], nullptr, b, address};
    }
    throw Invalid("touches memory that no buffer has");
  }

  // Throws on races, undefined bytes, and global memory that this thread must not access.
  void check(const Thread& thread, const Place& at, std::uint64_t bytes, bool writes, bool atomic) {
    for (std::uint64_t i = 0; i < bytes; ++i) {
      if (at.known != nullptr) {
        if (writes) at.known[i] = 1;
        if (at.known[i] == 0) throw Invalid("reads memory that nothing has written");
      }
      if (at.owners != nullptr && at.buffer != kInput && !(atomic && at.buffer == kSums)) {
        if (at.buffer == kSums) throw Invalid("touches a sum but by an atomic");
        if (at.owners[i] == -1) at.owners[i] = thread.global;
        if (at.owners[i] != thread.global) throw Invalid("touches global memory of another thread");
      }
      if (at.buffer == kInput && writes) throw Invalid("writes to its input");
      if (at.touches == nullptr) continue;
      Touch& touch = at.touches[i];
      if (touch.phase != phase_) touch = {phase_, -1, -1, false};
      const bool both_atomic = atomic && touch.atomic;
      const auto other = [&](int who) { return who != -1 && who != thread.number; };
      if (!both_atomic && (other(touch.writer) || (writes && other(touch.reader)))) throw Invalid("races");
      int& mark = writes ? touch.writer : touch.reader;
      mark = mark == -1 || mark == thread.number ? thread.number : -2;
      touch.atomic = touch.atomic || atomic;
    }
  }

  void load(Thread& thread, const Instruction& in, std::uint64_t address) {
    const auto element = static_cast<std::uint64_t>(in.element_bytes);
    const std::uint64_t all = element * in.results.size();
    const Place at = place(thread, in.space, address, all);
    check(thread, at, all, false, false);
    for (std::size_t i = 0; i < in.results.size(); ++i) {
      Bits value = 0;
      std::memcpy(&value, at.bytes + i * element, element);
      const int n = 8 * in.element_bytes;
      if (in.is_signed && (value >> (n - 1) & 1u) != 0) value |= ~low_bits(~Bits{0}, n);
      set(thread, in.results[i], value);
    }
  }

  void store(Thread& thread, const Instruction& in, std::uint64_t address) {
    const auto element = static_cast<std::uint64_t>(in.element_bytes);
    const std::uint64_t all = element * in.sources.size();
    const Place at = place(thread, in.space, address, all);
    check(thread, at, all, true, false);
    for (std::size_t i = 0; i < in.sources.size(); ++i) {
      const Bits value = get(thread, in.sources[i]);
      std::memcpy(at.bytes + i * element, &value, element);
    }
    const auto pending = thread_approximations_.find({thread.global, in.sources[0].reg});
    if (at.buffer == kApproximations && pending != thread_approximations_.end()) {
      pending->second.offset = at.offset;
      approximated_[at.offset] = pending->second;
    }
  }

  static Bits atomic_result(const std::string& what, Bits old, Bits b, Bits c, bool global) {
    const std::string operation = what.substr(0, what.find('.')), type = what.substr(what.find('.') + 1);
    if (operation == "add") {
      // The ISA: atom.add.f32 flushes subnormals in global memory but not in shared memory.
      if (type == "f32") {
        const auto in = [global](Bits x) { return global ? flushed(as<float>(x)) : as<float>(x); };
        volatile float sum = in(old) + in(b);
        return single(global ? flushed(sum) : float{sum});
      }
      if (type == "f64") return twice(as<double>(old) + as<double>(b));
      return old + b;
    }
    if (operation == "and") return old & b;
    if (operation == "or") return old | b;
    if (operation == "xor") return old ^ b;
    if (operation == "exch") return b;
    if (operation == "cas") return old == b ? c : old;
    if (operation == "inc") return old >= b ? 0 : old + 1;
    if (operation == "dec") return old == 0 || old > b ? b : old - 1;
    const IntegerType integer{"", std::stoi(type.substr(1)), type[0] == 's'};
    const bool less = value_of(b, integer) < value_of(old, integer);
    return less == (operation == "min") ? b : old;
  }

  void atomic(Thread& thread, const Instruction& in, std::uint64_t address) {
    const auto bytes = static_cast<std::uint64_t>(in.element_bytes);
    const Place at = place(thread, in.space, address, bytes);
    check(thread, at, bytes, true, true);
    Bits old = 0;
    std::memcpy(&old, at.bytes, bytes);
    const Bits b = get(thread, in.sources[0]), c = in.sources.size() > 1 ? get(thread, in.sources[1]) : 0;
    const bool global = in.space == Space::global || in.space == Space::generic_global;
    const Bits value = atomic_result(in.name, old, b, c, global);
    std::memcpy(at.bytes, &value, bytes);
    if (!in.results.empty()) set(thread, in.results[0], old);
  }

  void copy(Thread& thread, const Instruction& in, std::uint64_t address) {
    const auto bytes = static_cast<std::uint64_t>(in.element_bytes);
    const Place from = place(thread, Space::global, get(thread, in.second_base), bytes);
    check(thread, from, bytes, false, false);
    const Place to = place(thread, Space::shared, address, bytes);
    check(thread, to, bytes, true, false);
    std::memcpy(to.bytes, from.bytes, bytes);
  }

  // --- Execution.

  // A line, together with the calls and loop iterations that led to it.
  struct Where {
    std::uint32_t caller = 0;
    std::uint64_t line_and_iterations = 0;
    bool operator==(const Where&) const = default;
    struct Hash {
      std::size_t operator()(const Where& w) const {
        return std::hash<std::uint64_t>()(w.line_and_iterations ^ w.caller * 0x9e37'79b9'7f4a'7c15u);
      }
    };
  };
  Where where(const Thread& thread, std::size_t line) const {
    std::uint64_t key = 0;
    for (const int loop : code_.lines[line].loops) {
      const int iteration = thread.frame().iterations[static_cast<std::size_t>(loop)];
      if (iteration >= kMostIterations) throw Invalid("loops too often");
      key = key * kMostIterations + static_cast<std::uint64_t>(iteration);
    }
    return {thread.frame().caller, key | static_cast<std::uint64_t>(line) << 48};
  }

  Meeting& meeting(const Thread& thread, std::size_t line) {
    Meeting& out = meetings_[static_cast<std::size_t>(thread.number / kLanes)][where(thread, line)];
    out.line = line;
    const std::uint32_t lane = 1u << (thread.number % kLanes);
    if ((out.came & lane) != 0) throw Invalid("comes twice to a place at once");
    out.came |= lane;
    return out;
  }

  void step(Thread& thread) {
    const std::size_t line = thread.at++;
    const Instruction& in = code_.lines[line].code;
    switch (in.what) {
      case Do::label:
      case Do::open_call:
      case Do::close_call:
        return;
      case Do::enter_loop:
        thread.frame().iterations[static_cast<std::size_t>(in.loop)] = 0;
        return;
      case Do::next_iteration:
        ++thread.frame().iterations[static_cast<std::size_t>(in.loop)];
        return;
      default:
        break;
    }
    if (++out_.thread_instructions > kMostInstructions) throw Invalid("runs too long");
    Meeting& all = meeting(thread, line);
    if (!guard_holds(thread, in)) return;
    const unsigned lane = static_cast<unsigned>(thread.number) % kLanes;
    all.did |= 1u << lane;
    switch (in.what) {
      case Do::form:
        return apply(thread, in);
      case Do::special:
        return set(thread, in.results[0], special(thread, in.name));
      case Do::parameter:
        for (int b = 0; b < kBufferCount; ++b) {
          if (in.name == kBufferNames[b]) set(thread, in.results[0], addresses_[b]);
        }
        return;
      case Do::address:
        return set(thread, in.results[0], 0);
      case Do::generic:
        return set(thread, in.results[0], get(thread, in.sources[0]) + kSharedWindow);
      case Do::space_query:
        return set(thread, in.results[0],
                   in.name == (get(thread, in.sources[0]) >= kSharedWindow ? "shared" : "global"));
      case Do::branch:
        thread.at = static_cast<std::size_t>(code_.labels[static_cast<std::size_t>(in.label)]);
        return;
      case Do::carry:
        return carry(thread, in);
      case Do::branch_by_index: {
        const Bits index = get(thread, in.sources[0]);
        if (index >= in.labels.size()) throw Invalid("branches by an index beyond its table");
        thread.at = static_cast<std::size_t>(code_.labels[static_cast<std::size_t>(in.labels[index])]);
        all.address[lane] = instruction_from(thread.at);
        return;
      }
      case Do::leave:
        if (in.text == "ret" && thread.frames.size() > 1) return end_call(thread);
        thread.done = true;
        return;
      case Do::argument:
        thread.frame().arguments[{in.parameter, in.field}] = get(thread, in.sources[0]);
        return;
      case Do::call:
        return call(thread, in, line);
      case Do::take_result:
        return set(thread, in.results[0], handed(thread.frame().given, in));
      case Do::take_parameter:
        return set(thread, in.results[0], handed(thread.frame().taken, in));
      case Do::give_result:
        thread.frame().results[{in.parameter, in.field}] = get(thread, in.sources[0]);
        return;
      case Do::gate_init:
      case Do::gate_arrive:
      case Do::gate_test:
        all.address[lane] = static_cast<std::uint64_t>(in.offset);
        return use_gate(thread, in);
      case Do::load:
      case Do::store:
      case Do::atomic:
      case Do::copy: {
        const std::uint64_t address = address_of(thread, in);
        all.address[lane] = address;
        if (in.what == Do::copy) all.second_address[lane] = get(thread, in.second_base);
        if (in.what == Do::load) return load(thread, in, address);
        if (in.what == Do::store) return store(thread, in, address);
        if (in.what == Do::atomic) return atomic(thread, in, address);
        return copy(thread, in, address);
      }
      default:
        return;
    }
  }

  static Bits handed(const Frame::Handed& values, const Instruction& in) {
    const auto found = values.find({in.parameter, in.field});
    if (found == values.end()) throw Invalid("takes what nobody has handed over");
    return found->second;
  }

  void call(Thread& thread, const Instruction& in, std::size_t line) {
    const Function& function = program_.functions[static_cast<std::size_t>(in.function)];
    Frame frame = new_frame(function.registers, function.has_local);
    frame.taken = std::move(thread.frame().arguments);
    thread.frame().arguments.clear();
    frame.caller = calls_.try_emplace(where(thread, line), static_cast<std::uint32_t>(calls_.size() + 1)).first->second;
    frame.back = thread.at;
    thread.at = code_.functions[static_cast<std::size_t>(in.function)];
    thread.frames.push_back(std::move(frame));
  }

  static void end_call(Thread& thread) {
    Frame frame = std::move(thread.frames.back());
    thread.frames.pop_back();
    thread.frame().given = std::move(frame.results);
    thread.at = frame.back;
  }

  Gate& gate_of(const Instruction& in) { return gates_.at(static_cast<std::size_t>(in.offset / in.element_bytes)); }

  // Whether the phase, given by its state or parity, has completed.
  bool is_over(const Thread& thread, const Instruction& in) {
    const Gate& gate = gate_of(in);
    const Bits phase = get(thread, in.sources[0]);
    return in.text.find(".parity") != std::string::npos ? (gate.phase & 1u) != phase : gate.phase != phase;
  }

  void use_gate(Thread& thread, const Instruction& in) {
    Gate& gate = gate_of(in);
    if (in.what == Do::gate_init) {
      gate.expected = gate.missing = get(thread, in.sources[0]);
      return;
    }
    if (in.what == Do::gate_test) return set(thread, in.results[0], is_over(thread, in));
    const std::uint64_t count = in.sources.empty() ? 1 : get(thread, in.sources[0]);
    if (count > gate.missing) throw Invalid("arrives at an mbarrier more often than it expects");
    set(thread, in.results[0], gate.phase);
    gate.missing -= count;
    if (gate.missing != 0) return;
    gate.missing = gate.expected;
    ++gate.phase;
  }

  // Executes an instruction that reads or writes the carry. The carry of a sum is its bit 32 or 64; that of a
  // difference tells whether it is not negative.
  void carry(Thread& thread, const Instruction& in) {
    if (in.carry_in && !thread.carry_known) throw Invalid("reads a carry that nothing has made");
    const int bits = in.element_bytes * 8;
    const Wide a = get(thread, in.sources[0]), b = get(thread, in.sources[1]);
    const Wide carry = in.carry_in && thread.carry ? 1 : 0;
    Wide first = a, second = b;
    if (in.name.starts_with("mad")) {
      const Wide x = in.is_signed ? value_of(static_cast<Bits>(a), {"", bits, true}) : a;
      const Wide y = in.is_signed ? value_of(static_cast<Bits>(b), {"", bits, true}) : b;
      const UnsignedWide product = static_cast<UnsignedWide>(x) * static_cast<UnsignedWide>(y);
      first = low_bits(static_cast<Bits>(in.name == "mad.hi" ? product >> bits : product), bits);
      second = get(thread, in.sources[2]);
    }
    const bool is_difference = in.name == "sub";
    const Wide borrow = in.carry_in ? 1 - carry : 0;
    const Wide result = is_difference ? first - second - borrow : first + second + carry;
    set(thread, in.results[0], low_bits(static_cast<Bits>(result), bits));
    if (!in.carry_out) return;
    thread.carry = is_difference ? result >= 0 : (result >> bits) != 0;
    thread.carry_known = true;
  }

  // Returns the first line from `line` on that is printed as an instruction; labels refer to it.
  std::size_t instruction_from(std::size_t line) const {
    while (!code_.lines[line].in_text()) ++line;
    return line;
  }

  // Whether the lanes of a warp diverge at this instruction.
  bool parts(const Instruction& in, const Meeting& meeting) const {
    if (in.what == Do::branch) return meeting.did != 0 && meeting.did != meeting.came;
    std::set<std::size_t> ways;
    if (meeting.did != meeting.came) ways.insert(instruction_from(meeting.line + 1));
    for (int l = 0; l < kLanes; ++l) {
      if ((meeting.did >> l & 1u) != 0) ways.insert(meeting.address[static_cast<std::size_t>(l)]);
    }
    return ways.size() > 1;
  }

  void apply(Thread& thread, const Instruction& in) {
    std::array<Bits, 4> sources{}, results{};
    for (std::size_t i = 0; i < in.sources.size(); ++i) sources[i] = get(thread, in.sources[i]);
    if (in.form->accepts) {
      thread_approximations_[{thread.global, in.results[0].reg}] = {in.form, sources, 0};
      return set(thread, in.results[0], 0);
    }
    in.form->apply(sources.data(), results.data());
    for (std::size_t i = 0; i < in.results.size(); ++i) set(thread, in.results[i], results[i]);
  }

  static bool is_of_block(Do what) {
    return what == Do::barrier || what == Do::barrier_reduce || what == Do::gate_wait;
  }

  // Called when every thread has exited or is waiting. Releases warps or the block; returns false if all have exited.
  bool meet() {
    bool any = false, moved = false;
    std::size_t waiting = 0, alive = 0, barrier_line = 0;
    for (std::size_t first = 0; first < threads_.size(); first += kLanes) {
      const std::size_t last = std::min(first + kLanes, threads_.size());
      std::vector<Thread*> lanes;
      for (std::size_t t = first; t < last; ++t) {
        if (!threads_[t].done) lanes.push_back(&threads_[t]);
      }
      if (lanes.empty()) continue;
      any = true;
      alive += lanes.size();
      const std::size_t line = lanes[0]->at;
      for (const Thread* thread : lanes) {
        if (thread->at != line) throw Invalid("lets a warp come apart where its threads must meet");
      }
      if (is_of_block(code_.lines[line].code.what)) {
        if (waiting != 0 && line != barrier_line) throw Invalid("lets warps meet at different barriers");
        waiting += lanes.size();
        barrier_line = line;
        continue;
      }
      exchange(lanes, code_.lines[line].code, line);
      moved = true;
    }
    if (!any) return false;
    if (moved) return true;
    if (waiting != alive) throw Invalid("leaves threads behind at a barrier");
    ++phase_;
    reduce_at_barrier(code_.lines[barrier_line].code);
    pass_gate(code_.lines[barrier_line].code);
    for (Thread& thread : threads_) {
      if (thread.done) continue;
      meeting(thread, barrier_line).did |= 1u << (thread.number % kLanes);
      ++out_.thread_instructions;
      ++thread.at;
    }
    return true;
  }

  // Reduces the predicates of all remaining threads: counts the true ones, or finds whether all or any are true.
  void reduce_at_barrier(const Instruction& in) {
    if (in.what != Do::barrier_reduce) return;
    std::uint64_t alive = 0, hold = 0;
    for (const Thread& thread : threads_) {
      if (thread.done) continue;
      ++alive;
      hold += get(thread, in.sources.back());
    }
    const Bits result = in.name == "popc" ? hold : in.name == "and" ? hold == alive : hold != 0;
    for (Thread& thread : threads_) {
      if (!thread.done) set(thread, in.results[0], result);
    }
  }

  // Lets all threads pass: all have arrived, so the phase that they wait for has completed.
  void pass_gate(const Instruction& in) {
    if (in.what != Do::gate_wait) return;
    for (Thread& thread : threads_) {
      if (thread.done) continue;
      if (!is_over(thread, in)) throw Invalid("waits at an mbarrier for ever");
      set(thread, in.results[0], 1);
    }
  }

  // Executes ldmatrix or mma for a whole warp.
  void use_matrices(const std::vector<Thread*>& lanes, const Instruction& in, std::size_t line) {
    if (lanes.size() != kLanes) throw Invalid("needs all threads of a warp for a matrix");
    if (in.what == Do::multiply_matrices) {
      std::vector<WarpRegister> sources(in.sources.size());
      for (std::size_t i = 0; i < sources.size(); ++i) {
        for (std::size_t l = 0; l < kLanes; ++l) sources[i][l] = get(*lanes[l], in.sources[i]);
      }
      const auto a = sources.begin(), b = a + in.shape->a_registers, c = b + in.shape->b_registers;
      const auto results = multiplied(*in.shape, {a, b}, {b, c}, {c, sources.end()});
      for (std::size_t i = 0; i < results.size(); ++i) {
        for (std::size_t l = 0; l < kLanes; ++l) set(*lanes[l], in.results[i], results[i][l]);
      }
      return;
    }
    // Thread 8i + r gives the address of row r of matrix i.
    std::vector<std::array<std::array<std::uint16_t, 8>, 8>> matrices(in.results.size());
    for (std::size_t l = 0; l < 8 * matrices.size(); ++l) {
      const std::uint64_t address = address_of(*lanes[l], in);
      meetings_[static_cast<std::size_t>(lanes[l]->number / kLanes)].at(where(*lanes[l], line)).address[l] = address;
      auto& row = matrices[l / 8][l % 8];
      const Place at = place(*lanes[l], in.space, address, sizeof row);
      check(*lanes[l], at, sizeof row, false, false);
      std::memcpy(row.data(), at.bytes, sizeof row);
    }
    for (std::size_t m = 0; m < matrices.size(); ++m) {
      const WarpRegister values = loaded(matrices[m], in.transposed);
      for (std::size_t l = 0; l < kLanes; ++l) set(*lanes[l], in.results[m], values[l]);
    }
  }

  // Executes redux or match over the values of all active lanes.
  void combine(const std::vector<Thread*>& lanes, const Instruction& in, std::uint32_t active) {
    std::vector<Bits> values;
    for (const Thread* thread : lanes) {
      values.push_back(get(*thread, in.sources[0]));
      if (get(*thread, in.sources[1]) != active) throw Invalid("exchanges with threads that are not there");
    }
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      if (in.what == Do::reduce) {
        Bits sum = values[0];
        for (std::size_t j = 1; j < values.size(); ++j)
          sum = low_bits(atomic_result(in.name, sum, values[j], 0, false), 32);
        set(*lanes[i], in.results[0], sum);
        continue;
      }
      Bits same = 0;
      for (std::size_t j = 0; j < lanes.size(); ++j) {
        if (values[j] == values[i]) same |= Bits{1} << (lanes[j]->number % kLanes);
      }
      const bool all = same == active;
      set(*lanes[i], in.results[0], in.name == "any" || all ? same : 0);
      if (in.results.size() > 1) set(*lanes[i], in.results[1], all);
    }
  }

  void exchange(const std::vector<Thread*>& lanes, const Instruction& in, std::size_t line) {
    std::uint32_t active = 0, votes = 0;
    std::array<Bits, kLanes> values{};
    for (Thread* thread : lanes) {
      const unsigned lane = static_cast<unsigned>(thread->number) % kLanes;
      active |= 1u << lane;
      meeting(*thread, line).did |= 1u << lane;
      ++out_.thread_instructions;
      if (in.what == Do::shuffle) values[lane] = get(*thread, in.sources[0]);
      if (in.what == Do::vote && get(*thread, in.sources[0]) != 0) votes |= 1u << lane;
    }
    if (in.what == Do::load_matrices || in.what == Do::multiply_matrices) use_matrices(lanes, in, line);
    for (Thread* thread : lanes) {
      ++thread->at;
      if (in.what == Do::active_mask) set(*thread, in.results[0], active);
      if (in.what == Do::vote) {
        if (get(*thread, in.sources[1]) != active) throw Invalid("votes with threads that are not there");
        const bool all = votes == active, none = votes == 0;
        const Bits result = in.name == "ballot" ? votes
                            : in.name == "all"  ? all
                            : in.name == "any"  ? !none
                                                : all || none;
        set(*thread, in.results[0], result);
      }
    }
    if (in.what == Do::reduce || in.what == Do::match) return combine(lanes, in, active);
    if (in.what != Do::shuffle) return;
    std::vector<std::pair<Bits, bool>> results;
    for (Thread* thread : lanes) results.push_back(shuffled(*thread, in, active, values));
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      set(*lanes[i], in.results[0], results[i].first);
      if (in.results.size() > 1) set(*lanes[i], in.results[1], results[i].second);
    }
  }

  // Executes shfl.sync; the names are the ISA's bval, cval, segmask, maxLane, minLane.
  std::pair<Bits, bool> shuffled(const Thread& thread, const Instruction& in, std::uint32_t active,
                                 const std::array<Bits, kLanes>& values) {
    const Bits b = get(thread, in.sources[1]), c = get(thread, in.sources[2]);
    if (get(thread, in.sources[3]) != active) throw Invalid("shuffles with threads that are not there");
    const int lane = thread.number % kLanes, bval = static_cast<int>(b & 31), cval = static_cast<int>(c & 31);
    const int segment = static_cast<int>(c >> 8 & 31);
    const int max_lane = (lane & segment) | (cval & ~segment), min_lane = lane & segment;
    int j = lane;
    bool valid = false;
    if (in.name == "up") j = lane - bval, valid = j >= max_lane;
    if (in.name == "down") j = lane + bval, valid = j <= max_lane;
    if (in.name == "bfly") j = lane ^ bval, valid = j <= max_lane;
    if (in.name == "idx") j = min_lane | (bval & ~segment), valid = j <= max_lane;
    if (!valid) j = lane;
    if ((active >> j & 1u) == 0) throw Invalid("shuffles from a thread that is not there");
    return {values[static_cast<std::size_t>(j)], valid};
  }

  void count(std::size_t line, const Meeting& meeting) {
    const Instruction& in = code_.lines[line].code;
    count_meeting(in, meeting, parts(in, meeting), out_.counts[line]);
  }

  const Program& program_;
  const Code& code_;
  const std::array<std::uint64_t, kBufferCount>& addresses_;
  ReferenceRun out_;
  std::array<std::vector<int>, kBufferCount> owners_;
  int loops_ = 0;

  Dimensions block_;
  std::vector<Thread> threads_;
  std::vector<std::uint8_t> shared_, shared_known_, constants_;
  std::vector<Touch> touches_;
  std::uint64_t phase_ = 1;
  std::vector<std::unordered_map<Where, Meeting, Where::Hash>> meetings_;  // one map per warp
  std::unordered_map<Where, std::uint32_t, Where::Hash> calls_;            // number of each call, from 1
  std::vector<Gate> gates_;
  std::map<std::pair<int, Register>, ReferenceRun::Approximated> thread_approximations_;
  std::map<std::uint64_t, ReferenceRun::Approximated> approximated_;
};

}  // namespace

ReferenceRun run_reference(const Program& program, const Code& code,
                           const std::array<std::uint64_t, kBufferCount>& addresses) {
  return Reference(program, code, addresses).run();
}

}  // namespace roofwalk::random
