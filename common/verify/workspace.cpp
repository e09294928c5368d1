#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "common/base/half.h"
#include "common/record/run_record.h"
#include "common/verify/workspace_impl.h"

namespace roofwalk {
namespace {

// Large buffers are written and compared in pieces of this many bytes, because a second copy of them in this process
// would take longer than the transfer.
constexpr std::uint64_t kPieceBytes = 4 << 20;
static_assert(kPieceBytes % sizeof kPoison == 0);  // so that poison continues from piece to piece

template <class T>
ArgumentBytes bytes_of(const T& value) {
  ArgumentBytes bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

template <class T>
std::span<const std::uint8_t> bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(T)};
}

std::span<std::uint8_t> writable_bytes_of(auto&& values) {
  return {reinterpret_cast<std::uint8_t*>(values.data()), values.size() * sizeof values[0]};
}

// Calls `visit` for each piece of `count` elements of type T.
template <class T>
void in_pieces(std::size_t count, const std::function<void(std::size_t first, std::size_t size)>& visit) {
  constexpr std::size_t kMost = kPieceBytes / sizeof(T);
  for (std::size_t first = 0; first < count; first += kMost) visit(first, std::min(kMost, count - first));
}

// Maps an unwritten half to an unwritten float.
float from_half(std::uint16_t bits) { return bits == kHalfPoison ? std::bit_cast<float>(kPoison) : half_value(bits); }

std::int32_t to_int(float value) {
  ROOFWALK_CHECK(std::fabs(value) < kWholeLimit && value == std::trunc(value));
  return static_cast<std::int32_t>(value);
}

using Visit = std::function<void(std::uint64_t offset_bytes, std::span<const std::uint8_t> bytes)>;

// Converts floats to elements of type T, in pieces, and hands on the bytes of each and their offset.
template <class T>
void convert(const std::vector<float>& values, T (*to)(float), const Visit& visit) {
  std::vector<T> elements;
  in_pieces<T>(values.size(), [&](std::size_t first, std::size_t count) {
    elements.resize(count);
    std::transform(&values[first], &values[first] + count, elements.begin(), to);
    visit(first * sizeof(T), bytes_of(elements));
  });
}

// Hands on the bytes that an input has on the device, in pieces, and the offset of each.
void visit_input(const InputBuffer& input, const Visit& visit) {
  switch (input.element) {
    case Element::f32:
      return in_pieces<std::uint8_t>(input.values.size() * sizeof(float), [&](std::size_t first, std::size_t count) {
        visit(first, bytes_of(input.values).subspan(first, count));
      });
    case Element::f16:
      return convert<std::uint16_t>(input.values, half_bits, visit);
    case Element::i32:
      return convert<std::int32_t>(input.values, to_int, visit);
  }
}

}  // namespace

Workspace::Impl::~Impl() {
  release_scratch();
  for (const Buffer& buffer : buffers) device.release(buffer.memory);
}

Result<Workspace::Impl::Buffer> Workspace::Impl::allocate(const std::string& name, std::uint64_t data_bytes,
                                                          Element element) {
  ROOFWALK_TRY(const DeviceBuffer memory, device.allocate(name, data_bytes + 2 * guard_bytes, element_bytes(element)));
  return Buffer{name, memory, data_bytes, element, nullptr};
}

void Workspace::Impl::refresh(const Buffer& buffer) {
  // Guards contain poison too, so reading a guard gives NaN.
  poison(buffer, 0, guard_bytes, kPoison);
  poison(buffer, guard_bytes + buffer.data_bytes, guard_bytes, kPoison);
  if (buffer.input == nullptr) {
    constexpr std::uint32_t kTwoHalves = kHalfPoison * 0x1'0001u;
    poison(buffer, guard_bytes, buffer.data_bytes, buffer.element == Element::f16 ? kTwoHalves : kPoison);
    device.forget(buffer.memory, guard_bytes, buffer.data_bytes);
    return;
  }
  visit_input(*buffer.input, [&](std::uint64_t offset_bytes, std::span<const std::uint8_t> bytes) {
    device.write(buffer.memory, guard_bytes + offset_bytes, bytes);
  });
}

void Workspace::Impl::poison(const Buffer& buffer, std::uint64_t offset_bytes, std::uint64_t size_bytes,
                             std::uint32_t word) {
  const std::vector<std::uint32_t> words(std::min(size_bytes, kPieceBytes) / sizeof word + 1, word);
  in_pieces<std::uint8_t>(size_bytes, [&](std::size_t first, std::size_t count) {
    device.write(buffer.memory, offset_bytes + first, bytes_of(words).first(count));
  });
}

void Workspace::Impl::release_scratch() {
  for (const Buffer& buffer : scratch) device.release(buffer.memory);
  scratch.clear();
}

Result<std::uint64_t> Workspace::Impl::allocate_scratch(std::uint64_t size_bytes) {
  // Devices do not allocate empty buffers, so this allocates one byte; any access to a float still faults.
  const std::uint64_t data_bytes = std::max<std::uint64_t>(size_bytes, 1);
  ROOFWALK_TRY(Buffer buffer, allocate(fmt::format("scratch {}", scratch.size() + 1), data_bytes, Element::f32));
  scratch.push_back(buffer);
  refresh(buffer);
  return data_address(buffer);
}

std::optional<Correctness> Workspace::Impl::check_guards() const {
  if (guard_bytes == 0) return std::nullopt;
  const std::vector<std::uint32_t> words(guard_bytes / sizeof kPoison, kPoison);
  const std::span<const std::uint8_t> fresh = bytes_of(words);
  std::vector<std::uint8_t> band(guard_bytes);
  for (const std::vector<Buffer>* group : {&buffers, &scratch}) {
    for (const Buffer& buffer : *group) {
      for (const bool behind : {false, true}) {
        const std::uint64_t start = behind ? guard_bytes + buffer.data_bytes : 0;
        device.read(buffer.memory, start, band);
        const auto at = std::mismatch(band.begin(), band.end(), fresh.begin()).first;
        if (at == band.end()) continue;
        const auto offset =
            static_cast<std::int64_t>(start) + (at - band.begin()) - static_cast<std::int64_t>(guard_bytes);
        Correctness result;
        result.wrong = Wrong::guard_changed;
        result.buffer = buffer.name;
        const std::int64_t size = element_bytes(buffer.element);
        result.index = behind ? offset / size : -((size - 1 - offset) / size);
        result.wrong_count = 1;
        result.reason = fmt::format("{}[{}] was written: that is out of bounds ({} holds {} elements)", buffer.name,
                                    result.index, buffer.name, buffer.data_bytes / element_bytes(buffer.element));
        return result;
      }
    }
  }
  return std::nullopt;
}

std::optional<Correctness> Workspace::Impl::check_inputs() const {
  for (const Buffer& buffer : buffers) {
    if (buffer.input == nullptr) continue;
    const std::uint32_t size = element_bytes(buffer.element);
    std::vector<std::uint8_t> now;
    Correctness result;
    visit_input(*buffer.input, [&](std::uint64_t offset_bytes, std::span<const std::uint8_t> before) {
      now.resize(before.size());
      device.read(buffer.memory, guard_bytes + offset_bytes, now);
      if (std::memcmp(now.data(), before.data(), now.size()) == 0) return;
      for (std::size_t at = 0; at < now.size(); at += size) {
        if (std::memcmp(&now[at], &before[at], size) == 0) continue;
        if (result.wrong_count++ == 0) result.index = static_cast<std::int64_t>((offset_bytes + at) / size);
      }
    });
    if (result.wrong_count == 0) continue;
    result.wrong = Wrong::input_changed;
    result.buffer = buffer.name;
    result.reason = fmt::format("the input {}[{}] was overwritten ({} of {} elements)", buffer.name, result.index,
                                result.wrong_count, buffer.input->values.size());
    return result;
  }
  return std::nullopt;
}

Correctness Workspace::Impl::compare_output(const Buffer& buffer, const Expected& expected) const {
  const auto read = [&](auto& elements, std::size_t first) {
    device.read(buffer.memory, guard_bytes + first * sizeof elements[0], writable_bytes_of(elements));
  };
  if (buffer.element == Element::i32) {
    std::vector<std::int32_t> values(buffer.data_bytes / sizeof(std::int32_t));
    read(values, 0);
    return compare(values, expected);
  }
  std::vector<float> values(buffer.data_bytes / element_bytes(buffer.element));
  if (buffer.element == Element::f32) {
    read(values, 0);
    return compare(values, expected);
  }
  std::vector<std::uint16_t> halves;
  in_pieces<std::uint16_t>(values.size(), [&](std::size_t first, std::size_t count) {
    halves.resize(count);
    read(halves, first);
    std::transform(halves.begin(), halves.end(), &values[first], from_half);
  });
  return compare(values, expected);
}

Workspace::Workspace(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;

Result<Workspace> Workspace::make(Device& device, Problem problem, std::uint64_t guard_bytes) {
  ROOFWALK_CHECK(guard_bytes <= kGuardBytes && guard_bytes % 256 == 0);  // kernels rely on 256-byte alignment
  auto impl = std::make_unique<Impl>(device, std::move(problem), guard_bytes);
  for (const Parameter& parameter : impl->problem.parameters) {
    if (const auto* scalar = std::get_if<Scalar>(&parameter)) {
      impl->arguments.push_back(std::visit([](auto value) { return bytes_of(value); }, scalar->value));
      continue;
    }
    const auto* input = std::get_if<InputBuffer>(&parameter);
    const auto* output = std::get_if<OutputBuffer>(&parameter);
    const std::uint64_t count = input != nullptr ? input->values.size() : static_cast<std::uint64_t>(output->count);
    const Element element = input != nullptr ? input->element : output->element;
    ROOFWALK_TRY(Impl::Buffer buffer, impl->allocate(input != nullptr ? input->name : output->name,
                                                     count * element_bytes(element), element));
    buffer.input = input;
    if (input != nullptr) device.protect(buffer.memory);
    impl->arguments.push_back(bytes_of(impl->data_address(buffer)));
    impl->buffers.push_back(std::move(buffer));
  }
  Workspace workspace(std::move(impl));
  workspace.reset();
  return workspace;
}

const std::vector<ArgumentBytes>& Workspace::arguments() const { return impl_->arguments; }

void Workspace::reset() {
  for (const Impl::Buffer& buffer : impl_->buffers) impl_->refresh(buffer);
  impl_->fault.reset();
  impl_->overrun.reset();
}

Result<RunRecord> Workspace::run_planned(const Artifact& artifact, const Planner& plan, const RunOptions& options) {
  ROOFWALK_TRY(RunRecord record, run_once(artifact, plan, options));
  if (record.fault || record.untraced_blocks.empty()) return record;
  RunOptions with_them = options;
  with_them.also_traced = record.untraced_blocks;
  return run_once(artifact, plan, with_them);
}

Result<RunRecord> Workspace::run_once(const Artifact& artifact, const Planner& plan, const RunOptions& options) {
  ROOFWALK_TRY_STATUS(impl_->device.load(artifact));
  return run_planned_loaded(plan, options);
}

Result<RunRecord> Workspace::run_planned_loaded(const Planner& plan, const RunOptions& options) {
  reset();
  struct ScratchGuard {  // releases scratch on every return
    Impl& impl;
    ~ScratchGuard() { impl.release_scratch(); }
  } release_at_the_end{*impl_};
  ROOFWALK_TRY(const Plan steps, plan(impl_->arguments, [this](std::uint64_t size_bytes) {
                 return impl_->allocate_scratch(size_bytes);
               }));
  ROOFWALK_TRY(RunRecord record, impl_->device.run(steps, options));
  impl_->fault = record.fault;
  impl_->overrun = impl_->check_guards();
  return record;
}

Workspace::Place Workspace::place_of(std::string_view buffer, std::int64_t index) const {
  const auto at =
      std::find_if(impl_->buffers.begin(), impl_->buffers.end(), [&](const auto& b) { return b.name == buffer; });
  ROOFWALK_CHECK(at != impl_->buffers.end() && index >= 0);
  const std::uint64_t bytes = element_bytes(at->element);
  return {impl_->data_address(*at) + static_cast<std::uint64_t>(index) * bytes, bytes};
}

Correctness Workspace::check(const std::vector<Expected>& expected) const {
  if (impl_->fault) {
    Correctness result;
    result.wrong = Wrong::fault;
    result.buffer = impl_->fault->buffer;
    result.index = impl_->fault->index.value_or(-1);
    result.reason = impl_->fault->message;
    result.wrong_count = 1;
    return result;
  }
  if (impl_->overrun) return *impl_->overrun;
  if (auto changed = impl_->check_inputs()) return *changed;

  Correctness all;
  all.correct = true;
  for (const Impl::Buffer& buffer : impl_->buffers) {
    if (buffer.input != nullptr) continue;
    const auto at =
        std::find_if(expected.begin(), expected.end(), [&](const auto& e) { return e.name == buffer.name; });
    ROOFWALK_CHECK(at != expected.end());
    Correctness one = impl_->compare_output(buffer, *at);
    one.worst_error = std::max(one.worst_error, all.worst_error);
    if (!one.correct) return one;
    all = std::move(one);
  }
  return all;
}

}  // namespace roofwalk
