// A problem laid out on a scripted device: the data written before a run, and the checks after it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <map>

#include "common/record/run_record.h"
#include "common/verify/verify.h"

namespace roofwalk {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t kGuard = 256;

// A device whose memory is one arena on the host and whose addresses are offsets into it. A run calls the script.
class ScriptedDevice final : public Device {
 public:
  std::function<Fault*(ScriptedDevice&)> script = [](ScriptedDevice&) { return nullptr; };
  std::map<int, DeviceBuffer> live;
  std::vector<std::string> names;
  std::vector<std::uint64_t> read_only;
  std::vector<std::uint8_t> arena = std::vector<std::uint8_t>(1 << 20, 0xcc);
  int loads = 0;
  bool refuse_load = false;
  std::uint64_t memory_left = 1 << 20;
  std::uint64_t next_address = 256;

  float get(std::uint64_t address) const {
    float value;
    std::memcpy(&value, &arena[address], sizeof value);
    return value;
  }
  void put(std::uint64_t address, float value) { std::memcpy(&arena[address], &value, sizeof value); }

 private:
  const Machine& do_machine() const override { return machine_; }
  bool do_supports(Counter) const override { return false; }
  Result<DeviceBuffer> do_allocate(std::string_view name, std::uint64_t size_bytes, std::uint32_t) override {
    if (size_bytes > memory_left) return Error{"out of memory"};
    names.emplace_back(name);
    const DeviceBuffer buffer{next_id_++, next_address, size_bytes};
    next_address += (size_bytes + 255) / 256 * 256;
    live[buffer.id] = buffer;
    return buffer;
  }
  void do_release(const DeviceBuffer& buffer) override { ASSERT_EQ(live.erase(buffer.id), 1u); }
  void do_protect(const DeviceBuffer& buffer) override { read_only.push_back(buffer.address); }
  void do_write(const DeviceBuffer& buffer, std::uint64_t offset, std::span<const std::uint8_t> data) override {
    std::copy(data.begin(), data.end(), arena.begin() + static_cast<std::ptrdiff_t>(buffer.address + offset));
  }
  void do_read(const DeviceBuffer& buffer, std::uint64_t offset, std::span<std::uint8_t> data) const override {
    std::copy_n(arena.begin() + static_cast<std::ptrdiff_t>(buffer.address + offset), data.size(), data.begin());
  }
  Status do_load(const Artifact&) override {
    ++loads;
    if (refuse_load) return Error{"cannot be loaded"};
    return kOk;
  }
  Result<RunRecord> do_run(const Plan&, const RunOptions&) override {
    RunRecord record;
    if (const Fault* fault = script(*this)) record.fault = *fault;
    return record;
  }

  Machine machine_;
  int next_id_ = 0;
};

// Returns the problem of SOLVE(x, y, n, scale), where y = 2 x.
Problem doubling() {
  return {.parameters = {InputBuffer{"x", {1, 2, 3}}, OutputBuffer{"y", 3}, Scalar{"n", 3}, Scalar{"scale", 2.0f}}};
}
std::vector<Expected> doubled() { return {{.name = "y", .values = {2, 4, 6}, .tolerances = {0, 0, 0}}}; }

Workspace::Planner no_scratch() {
  return [](std::span<const ArgumentBytes>, const Workspace::AllocateScratch&) -> Result<Plan> { return Plan{}; };
}

class WorkspaceTest : public testing::Test {
 protected:
  // Returns a workspace, with guards unless the test says otherwise.
  Workspace make(std::uint64_t guard_bytes = kGuard) {
    auto workspace = Workspace::make(device_, doubling(), guard_bytes);
    EXPECT_TRUE(workspace.ok());
    const auto& arguments = workspace->arguments();
    std::memcpy(&x_, arguments[0].data(), 8);
    std::memcpy(&y_, arguments[1].data(), 8);
    return std::move(*workspace);
  }
  void solve(int count = 3) {
    for (int i = 0; i < count; ++i)
      device_.put(y_ + 4u * static_cast<unsigned>(i), 2 * device_.get(x_ + 4u * static_cast<unsigned>(i)));
  }
  void script(std::function<void()> body) {
    device_.script = [body = std::move(body)](ScriptedDevice&) -> Fault* {
      body();
      return nullptr;
    };
  }
  Correctness run_and_check(Workspace& workspace) {
    const auto record = workspace.run_planned({}, no_scratch());
    EXPECT_TRUE(record.ok());
    return workspace.check(doubled());
  }

  ScriptedDevice device_;
  std::uint64_t x_ = 0, y_ = 0;
};

TEST_F(WorkspaceTest, ArgumentsFollowTheParameters) {
  const Workspace workspace = make();
  ASSERT_EQ(workspace.arguments().size(), 4u);
  EXPECT_THAT(workspace.arguments()[2], ElementsAre(3, 0, 0, 0));
  EXPECT_THAT(workspace.arguments()[3], ElementsAre(0, 0, 0, 0x40));
  EXPECT_EQ(x_ % 256, 0u);
  EXPECT_EQ(device_.get(x_ + 8), 3.0f);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(device_.get(y_)), kPoison);
}

TEST_F(WorkspaceTest, InputsAloneAreReadOnlyForPlans) {
  const Workspace workspace = make(0);
  EXPECT_THAT(device_.read_only, ElementsAre(x_));
}

TEST_F(WorkspaceTest, WithoutGuardsBuffersAreExact) {
  const Workspace workspace = make(0);
  for (const auto& [id, buffer] : device_.live) EXPECT_EQ(buffer.size_bytes, 12u);
  EXPECT_EQ(device_.live.size(), 2u);
}

TEST_F(WorkspaceTest, TheRightAnswerIsCorrect) {
  Workspace workspace = make();
  script([this] { solve(); });
  const Correctness result = run_and_check(workspace);
  EXPECT_TRUE(result.correct) << result.reason;
}

TEST_F(WorkspaceTest, AnOutputLeftOverFromTheLastRunIsUnwritten) {
  Workspace workspace = make();
  script([this] { solve(); });
  EXPECT_TRUE(run_and_check(workspace).correct);
  script([] {});
  EXPECT_EQ(run_and_check(workspace).reason, "y[0] was never written (3 of 3 elements)");
}

TEST_F(WorkspaceTest, AMissingTailIsUnwritten) {
  Workspace workspace = make();
  script([this] { solve(2); });
  EXPECT_EQ(run_and_check(workspace).reason, "y[2] was never written (1 of 3 elements)");
}

TEST_F(WorkspaceTest, AnOverwrittenInputIsNamedEvenWhenTheOutputIsRight) {
  Workspace workspace = make();
  script([this] {
    solve();
    device_.put(x_ + 4, 9);
  });
  const Correctness result = run_and_check(workspace);
  EXPECT_FALSE(result.correct);
  EXPECT_EQ(result.wrong, Wrong::input_changed);
  EXPECT_EQ(result.reason, "the input x[1] was overwritten (1 of 3 elements)");
}

TEST_F(WorkspaceTest, AnInputWhoseZeroChangesSignIsOverwritten) {
  auto problem = doubling();
  std::get<InputBuffer>(problem.parameters[0]).values = {0, 0, 0};
  auto workspace = Workspace::make(device_, std::move(problem));
  ASSERT_TRUE(workspace.ok());
  std::memcpy(&x_, workspace->arguments()[0].data(), 8);
  std::memcpy(&y_, workspace->arguments()[1].data(), 8);
  script([this] {
    solve();
    device_.put(x_, -0.0f);
  });
  ASSERT_TRUE(workspace->run_planned({}, no_scratch()).ok());
  EXPECT_EQ(workspace->check({{.name = "y", .values = {0, 0, 0}, .tolerances = {0, 0, 0}}}).wrong,
            Wrong::input_changed);
}

// Uses the problem of SOLVE(x, y) with fp16 elements, where y = x.
TEST_F(WorkspaceTest, HalvesLieBesideEachOther) {
  auto workspace = Workspace::make(
      device_, {.parameters = {InputBuffer{"x", {1, -2, 0.5}, Element::f16}, OutputBuffer{"y", 3, Element::f16}}},
      kGuard);
  ASSERT_TRUE(workspace.ok());
  std::memcpy(&x_, workspace->arguments()[0].data(), 8);
  std::memcpy(&y_, workspace->arguments()[1].data(), 8);
  const auto reason_after = [&](std::uint64_t to, int bytes) {
    script([this, to, bytes] { std::copy_n(&device_.arena[x_], bytes, &device_.arena[to]); });
    EXPECT_TRUE(workspace->run_planned({}, no_scratch()).ok());
    return workspace->check({{.name = "y", .values = {1, -2, 0.5}, .tolerances = {0, 0, 0}}}).reason;
  };
  EXPECT_EQ(reason_after(y_, 6), "");
  EXPECT_EQ(reason_after(y_, 4), "y[2] was never written (1 of 3 elements)");
  EXPECT_EQ(reason_after(x_ + 2, 2), "the input x[1] was overwritten (1 of 3 elements)");
  EXPECT_EQ(reason_after(y_ + 6, 2), "y[3] was written: that is out of bounds (y holds 3 elements)");
  EXPECT_EQ(reason_after(y_ - 2, 2), "y[-1] was written: that is out of bounds (y holds 3 elements)");
}

// Uses the problem of SOLVE(x, y) with integers, where y = x.
TEST_F(WorkspaceTest, IntegersAreIntegersOnTheDevice) {
  auto workspace = Workspace::make(
      device_,
      {.parameters = {InputBuffer{"x", {3, -2, 16'777'215}, Element::i32}, OutputBuffer{"y", 3, Element::i32}}},
      kGuard);
  ASSERT_TRUE(workspace.ok());
  std::memcpy(&x_, workspace->arguments()[0].data(), 8);
  std::memcpy(&y_, workspace->arguments()[1].data(), 8);
  const auto reason_after = [&](std::vector<std::int32_t> y) {
    script([this, y] { std::memcpy(&device_.arena[y_], y.data(), y.size() * sizeof y[0]); });
    EXPECT_TRUE(workspace->run_planned({}, no_scratch()).ok());
    std::int32_t third = 0;
    std::memcpy(&third, &device_.arena[x_ + 8], sizeof third);
    EXPECT_EQ(third, 16'777'215);
    return workspace->check({{.name = "y", .values = {3, -2, 16'777'215}, .tolerances = {0, 0, 0}}}).reason;
  };
  EXPECT_EQ(reason_after({3, -2, 16'777'215}), "");
  EXPECT_EQ(reason_after({3, -2}), "y[2] was never written (1 of 3 elements)");
  EXPECT_EQ(reason_after({3, -2, 16'777'216}),
            "y[2] is 16777216, it should be 16777215 (off by 1, allowed 0) (1 of 3 elements)");
  EXPECT_EQ(reason_after({3, -2, 16'777'217}),
            "y[2] is 16777217, it should be 16777215 (off by 2, allowed 0) (1 of 3 elements)");
  // Nearly right integers are no sign of half precision.
  EXPECT_THAT(reason_after({4, -3, 16'770'000}), Not(HasSubstr("half precision")));
}

// Buffers of this size are written and compared in several pieces.
TEST_F(WorkspaceTest, LargeBuffersAreWrittenAndComparedToTheEnd) {
  constexpr std::size_t kCount = 5'000'003;
  for (const Element element : {Element::f32, Element::f16, Element::i32}) {
    device_.arena.assign(64 << 20, 0xcc);
    device_.memory_left = 64 << 20;
    std::vector<float> values(kCount);
    for (std::size_t i = 0; i < kCount; ++i) values[i] = static_cast<float>(i % 1021);
    const std::vector<double> exact(values.begin(), values.end());
    auto workspace = Workspace::make(
        device_, {.parameters = {InputBuffer{"x", values, element}, OutputBuffer{"y", std::int64_t{kCount}, element}}},
        kGuard);
    ASSERT_TRUE(workspace.ok());
    std::memcpy(&x_, workspace->arguments()[0].data(), 8);
    std::memcpy(&y_, workspace->arguments()[1].data(), 8);
    const std::size_t bytes = element_bytes(element);
    const std::vector<Expected> expected{{.name = "y", .values = exact, .tolerances = std::vector<double>(kCount)}};
    const auto reason_after = [&](std::function<void()> body) {
      script(std::move(body));
      EXPECT_TRUE(workspace->run_planned({}, no_scratch()).ok());
      return workspace->check(expected).reason;
    };
    const auto copy = [&] { std::copy_n(&device_.arena[x_], kCount * bytes, &device_.arena[y_]); };
    EXPECT_EQ(reason_after(copy), "");
    EXPECT_EQ(reason_after([] {}), "y[0] was never written (5000003 of 5000003 elements)");
    EXPECT_EQ(reason_after([&] {
                copy();
                for (const std::size_t i : {std::size_t{3'000'001}, kCount - 1}) device_.arena[x_ + i * bytes] ^= 1;
              }),
              "the input x[3000001] was overwritten (2 of 5000003 elements)");
    device_.next_address = 256;
  }
}

TEST_F(WorkspaceTest, InputsAreFreshInEveryRun) {
  Workspace workspace = make();
  script([this] { device_.put(x_, 100); });
  EXPECT_FALSE(run_and_check(workspace).correct);
  script([this] { solve(); });
  EXPECT_TRUE(run_and_check(workspace).correct);
}

TEST_F(WorkspaceTest, AWriteBesideABufferIsOutOfBounds) {
  struct Stray {
    std::int64_t offset;
    const char* reason;
  };
  for (const Stray stray :
       {Stray{12, "y[3] was written: that is out of bounds (y holds 3 elements)"}, Stray{-4, "y[-1] was written"},
        Stray{-256, "y[-64] was written"}, Stray{264, "y[66] was written"}}) {
    Workspace workspace = make();
    script([&] {
      solve();
      device_.put(y_ + static_cast<std::uint64_t>(stray.offset), 8);
    });
    const Correctness result = run_and_check(workspace);
    EXPECT_EQ(result.wrong, Wrong::guard_changed);
    EXPECT_THAT(result.reason, HasSubstr(stray.reason));
    script([this] { solve(); });
    EXPECT_TRUE(run_and_check(workspace).correct) << "guards are fresh in every run";
  }
}

TEST_F(WorkspaceTest, ScratchIsPoisonedGuardedAndReleased) {
  Workspace workspace = make();
  const std::size_t before = device_.live.size();
  std::uint64_t first = 0, second = 0;
  const auto planner = [&](std::span<const ArgumentBytes>, const Workspace::AllocateScratch& allocate) -> Result<Plan> {
    first = *allocate(8);
    second = *allocate(0);
    EXPECT_NE(first, second);
    return Plan{};
  };
  script([&] {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(device_.get(first)), kPoison);
    EXPECT_EQ(device_.arena[second], kPoison & 0xff);  // one byte, as it would be empty
    solve();
    device_.put(first + 8, 1);
  });
  ASSERT_TRUE(workspace.run_planned({}, planner).ok());
  EXPECT_EQ(device_.live.size(), before);
  EXPECT_THAT(workspace.check(doubled()).reason, HasSubstr("scratch 1[2] was written: that is out of bounds"));
  EXPECT_THAT(device_.names, ElementsAre("x", "y", "scratch 1", "scratch 2"));
}

TEST_F(WorkspaceTest, ARefusedPlanReleasesItsScratch) {
  Workspace workspace = make();
  const std::size_t before = device_.live.size();
  const auto planner = [](std::span<const ArgumentBytes>, const Workspace::AllocateScratch& allocate) -> Result<Plan> {
    EXPECT_TRUE(allocate(100).ok());
    return Error{"launches zero blocks", "kernel.cu", 7};
  };
  const auto record = workspace.run_planned({}, planner);
  ASSERT_FALSE(record.ok());
  EXPECT_EQ(record.error().line, 7);
  EXPECT_EQ(device_.live.size(), before);
}

TEST_F(WorkspaceTest, TheModuleIsLoadedAfreshForEveryRun) {
  Workspace workspace = make();
  script([this] { solve(); });
  run_and_check(workspace);
  run_and_check(workspace);
  EXPECT_EQ(device_.loads, 2);
  device_.refuse_load = true;
  EXPECT_FALSE(workspace.run_planned({}, no_scratch()).ok());
}

TEST_F(WorkspaceTest, ALoadedModuleStaysAndAllElseIsFresh) {
  Workspace workspace = make();
  script([this] { solve(); });
  run_and_check(workspace);
  script([this] { solve(2); });
  ASSERT_TRUE(workspace.run_planned_loaded(no_scratch()).ok());
  EXPECT_EQ(workspace.check(doubled()).reason, "y[2] was never written (1 of 3 elements)");
  EXPECT_EQ(device_.loads, 1);
}

TEST_F(WorkspaceTest, AFaultIsTheReasonUntilTheNextRun) {
  Workspace workspace = make();
  Fault fault;
  fault.message = "y[3] is out of bounds";
  fault.buffer = "y";
  fault.index = 3;
  device_.script = [&](ScriptedDevice&) { return &fault; };
  const Correctness result = run_and_check(workspace);
  EXPECT_FALSE(result.correct);
  EXPECT_EQ(result.wrong, Wrong::fault);
  EXPECT_EQ(result.reason, "y[3] is out of bounds");
  EXPECT_EQ(result.index, 3);
  script([this] { solve(); });
  EXPECT_TRUE(run_and_check(workspace).correct);
}

TEST_F(WorkspaceTest, BuffersAreReleasedAtTheEnd) {
  {
    Workspace workspace = make();
    Workspace moved = std::move(workspace);
    EXPECT_EQ(device_.live.size(), 2u);
  }
  EXPECT_TRUE(device_.live.empty());
}

TEST_F(WorkspaceTest, OutOfMemoryIsAnErrorThatLeaksNothing) {
  device_.memory_left = 2 * kGuard + 11;
  EXPECT_FALSE(Workspace::make(device_, doubling(), kGuard).ok());
  EXPECT_TRUE(device_.live.empty());
}

}  // namespace
}  // namespace roofwalk
