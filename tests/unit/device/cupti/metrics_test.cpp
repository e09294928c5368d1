// Compares the table of metrics with the real CUPTI's data for every chip, and tests its arithmetic on invented values.
#include "common/device/cuda/cupti/metrics.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <set>

#include "common/device/cuda/tensor_type.h"
#include "tests/unit/device/cupti/real_cupti.h"

namespace roofwalk {
namespace {

using testing::Contains;
using testing::IsSupersetOf;
using testing::Not;

// CUPTI's host object for a chip.
class Host {
 public:
  Host(const CuptiApi& api, std::string_view chip) : api_(api) {
    const std::string name(chip);
    ROOFWALK_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params, params);
    params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    params.pChipName = name.c_str();
    if (api.cuptiProfilerHostInitialize(&params) == CUPTI_SUCCESS) object_ = params.pHostObject;
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host() {
    if (object_ == nullptr) return;
    ROOFWALK_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, params);
    params.pHostObject = object_;
    api_.cuptiProfilerHostDeinitialize(&params);
  }
  bool ok() const { return object_ != nullptr; }

  // Returns the metric's unit, such as "byte"; nullopt if the chip does not have the metric.
  std::optional<std::string> unit_of(const std::string& metric) const {
    ROOFWALK_CUPTI_PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params, params);
    params.pHostObject = object_;
    params.pMetricName = metric.c_str();
    if (api_.cuptiProfilerHostGetMetricProperties(&params) != CUPTI_SUCCESS) return std::nullopt;
    return params.pDimUnit == nullptr ? "" : params.pDimUnit;
  }

  // Returns how many passes the metrics take; 0 if there is no config image for them.
  std::size_t passes(const std::vector<std::string>& metrics) const {
    std::vector<const char*> names;
    for (const std::string& metric : metrics) names.push_back(metric.c_str());
    ROOFWALK_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, add);
    add.pHostObject = object_;
    add.ppMetricNames = names.data();
    add.numMetrics = names.size();
    if (api_.cuptiProfilerHostConfigAddMetrics(&add) != CUPTI_SUCCESS) return 0;
    ROOFWALK_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
    size.pHostObject = object_;
    if (api_.cuptiProfilerHostGetConfigImageSize(&size) != CUPTI_SUCCESS) return 0;
    std::vector<std::uint8_t> image(size.configImageSize);
    ROOFWALK_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, get);
    get.pHostObject = object_;
    get.configImageSize = image.size();
    get.pConfigImage = image.data();
    if (api_.cuptiProfilerHostGetConfigImage(&get) != CUPTI_SUCCESS) return 0;
    ROOFWALK_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, count);
    count.configImageSize = image.size();
    count.pConfigImage = image.data();
    return api_.cuptiProfilerHostGetNumOfPasses(&count) == CUPTI_SUCCESS ? count.numOfPasses : 0;
  }

 private:
  const CuptiApi& api_;
  CUpti_Profiler_Host_Object* object_ = nullptr;
};

class RealMetrics : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    api_ = real_cupti(why);
    if (!api_) GTEST_SKIP() << why;
  }
  std::optional<CuptiApi> api_;
};

// Returns what selects the chip's sets of metrics: nullopt (no tensor operations), and each tensor type that it counts.
std::vector<std::optional<TensorType>> sets_of(std::string_view chip) {
  std::vector<std::optional<TensorType>> sets = {std::nullopt};
  for (const TensorType type : tensor_types()) {
    if (metrics_of(chip, type) != metrics_of(chip)) sets.emplace_back(type);
  }
  return sets;
}

std::string name_of(const std::optional<TensorType>& type) {
  return type ? std::string(tensor_type_name(*type)) : "no tensor type";
}

TEST_F(RealMetrics, EveryChipHasEveryNameOfItsSets) {
  for (const std::string_view chip : counted_chips()) {
    const Host host(*api_, chip);
    ASSERT_TRUE(host.ok()) << chip;
    EXPECT_FALSE(host.unit_of("dram__bytes_of_nobody.sum")) << "it takes any name";
    EXPECT_FALSE(host.unit_of("")) << "it takes any name";
    for (const auto& type : sets_of(chip)) {
      for (const std::string& metric : metrics_of(chip, type))
        EXPECT_TRUE(host.unit_of(metric)) << chip << ' ' << metric;
    }
  }
}

TEST_F(RealMetrics, EverySetTakesTwoPassesOnEveryChip) {
  for (const std::string_view chip : counted_chips()) {
    for (const auto& type : sets_of(chip)) {
      const Host host(*api_, chip);
      EXPECT_EQ(host.passes(metrics_of(chip, type)), static_cast<std::size_t>(kCounterPasses))
          << chip << ", " << name_of(type);
    }
  }
}

// The table leaves out L2 hits and a second tensor type, because counting these would take a third pass.
TEST_F(RealMetrics, HitsAndASecondTensorTypeWouldTakeAThirdPass) {
  auto metrics = metrics_of("GH100", TensorType::f16_f32);
  metrics.push_back("sm__ops_path_tensor_op_hmma_src_bf16_dst_fp32.sum");
  EXPECT_EQ(Host(*api_, "GH100").passes(metrics), 3u);
  metrics = metrics_of("AD102");
  metrics.push_back("lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum");
  EXPECT_EQ(Host(*api_, "AD102").passes(metrics), 3u);
}

// Returns the weight that each metric has in a figure, found by raising or lowering one metric at a time by 1.
std::map<std::string, double> weights_of(MetricSum quantity, std::string_view chip) {
  RangeValues values;
  for (const std::string& metric : metrics_of(chip)) values.metrics[metric] = 1000;
  const auto before = value_of(quantity, chip, values);
  std::map<std::string, double> weights;
  for (auto& [metric, value] : values.metrics) {
    value = 1001;
    const auto more = value_of(quantity, chip, values);
    value = 999;
    const auto less = value_of(quantity, chip, values);  // a figure below 0 would be absent
    value = 1000;
    const double weight = more ? *more - before.value() : less ? before.value() - *less : 0;
    if (weight != 0) weights[metric] = weight;
  }
  return weights;
}

TEST_F(RealMetrics, UnitsAreWhatTheNamesSay) {
  const std::map<std::string, std::string> units = {
      {"ns", "nanosecond"},     {"cycles", "gpc_cycle"},           {"percent", "percent"},    {"bytes", "byte"},
      {"sectors", "l2_sector"}, {"instructions", "instruction"},   {"f16", "instruction"},    {"f32", "instruction"},
      {"f64", "instruction"},   {"wavefronts", "l1tex_wavefront"}, {"warps", "gpc_cyclewarp"}};
  for (const std::string_view chip : {"TU102", "GA100", "AD102", "GH100", "GB100", "GB202", "GB20B"}) {
    const Host host(*api_, chip);
    for (const MetricSum quantity : quantities()) {
      const std::string name(quantity_name(quantity));
      const auto wanted = units.find(name.substr(name.rfind('_') + 1));
      ASSERT_NE(wanted, units.end()) << name;
      for (const auto& [metric, weight] : weights_of(quantity, chip)) {
        EXPECT_EQ(host.unit_of(metric), wanted->second) << chip << ' ' << name << ' ' << metric;
      }
    }
    for (const auto& type : sets_of(chip)) {
      if (type) {
        EXPECT_EQ(host.unit_of(metrics_of(chip, type).back()), "math_op") << chip << ' ' << name_of(type);
      }
    }
  }
}

// Every chip that CUPTI knows is in the table.
TEST_F(RealMetrics, NoChipOfCuptisIsForgotten) {
  void* library = ::dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);  // loaded by real_cupti()
  ASSERT_NE(library, nullptr);
  const auto list = reinterpret_cast<decltype(&::cuptiProfilerHostGetSupportedChips)>(
      ::dlsym(library, "cuptiProfilerHostGetSupportedChips"));
  ASSERT_NE(list, nullptr);
  ROOFWALK_CUPTI_PARAMS(CUpti_Profiler_Host_GetSupportedChips_Params, params);
  ASSERT_EQ(list(&params), CUPTI_SUCCESS);
  std::set<std::string_view> chips(params.ppChipNames, params.ppChipNames + params.numChips);
  std::uint32_t version = 0;
  ASSERT_EQ(api_->cuptiGetVersion(&version), CUPTI_SUCCESS);
  for (const std::string_view chip : counted_chips()) EXPECT_TRUE(chips.contains(chip)) << chip;
  chips.erase("GV100");
  chips.erase("GV11B");
  if (version < 130100) {
    EXPECT_EQ(chips.size(), counted_chips().size());
  }
}

TEST(Metrics, AnUnknownChipHasNone) {
  EXPECT_TRUE(metrics_of("GV100").empty());
  EXPECT_TRUE(counters_known("").empty());
  EXPECT_EQ(counters_of("GX999", {"add", {{"dram__bytes_read.sum", 4}}}), Counters{});
}

TEST(Metrics, EachIsAskedForOnce) {
  for (const std::string_view chip : counted_chips()) {
    const auto metrics = metrics_of(chip);
    EXPECT_EQ(std::set<std::string>(metrics.begin(), metrics.end()).size(), metrics.size()) << chip;
  }
}

std::string op(const std::string& name) { return "smsp__sass_thread_inst_executed_op_" + name + "_pred_on.sum"; }

TEST(Metrics, AnFmaIsTwoFlopsAndAPairOfFloatsTwice) {
  using Weights = std::map<std::string, double>;
  const Weights f32 = {{op("fadd"), 1}, {op("fmul"), 1}, {op("ffma"), 2}};
  EXPECT_EQ(weights_of(MetricSum::flops_f32, "GH100"), f32);
  EXPECT_EQ(weights_of(MetricSum::flops_f32, "GB202"), f32);
  Weights packed = f32;
  packed.insert({{op("fadd2"), 2}, {op("fmul2"), 2}, {op("ffma2"), 4}});
  EXPECT_EQ(weights_of(MetricSum::flops_f32, "GB100"), packed);
  EXPECT_EQ(weights_of(MetricSum::flops_f64, "AD102"), (Weights{{op("dadd"), 1}, {op("dmul"), 1}, {op("dfma"), 2}}));
  EXPECT_EQ(weights_of(MetricSum::flops_f16, "TU102"), (Weights{{op("hadd"), 2}, {op("hmul"), 2}, {op("hfma"), 4}}));
}

TEST(Metrics, DramGoesByTheChipsOwnNames) {
  using Weights = std::map<std::string, double>;
  EXPECT_EQ(weights_of(MetricSum::dram_read_bytes, "GH100"), (Weights{{"dram__bytes_read.sum", 1}}));
  EXPECT_EQ(weights_of(MetricSum::dram_write_bytes, "GB205"), (Weights{{"dram__bytes_op_write.sum", 1}}));
  for (const char* integrated : {"GA10B", "GB10B", "GB20B"}) {
    EXPECT_TRUE(weights_of(MetricSum::dram_read_bytes, integrated).empty()) << integrated;
    EXPECT_THAT(counters_known(integrated), Not(Contains(Counter::dram_read_bytes))) << integrated;
    EXPECT_THAT(counters_known(integrated), Contains(Counter::l2_read_sectors)) << integrated;
  }
}

TEST(Metrics, WritesToL2AreStoresAndAtomicsOrAllThatIsNoRead) {
  using Weights = std::map<std::string, double>;
  const std::string tex = "lts__t_sectors_srcunit_tex";
  EXPECT_EQ(weights_of(MetricSum::l2_write_sectors, "GH100"),
            (Weights{{tex + "_op_write.sum", 1}, {tex + "_op_atom.sum", 1}, {tex + "_op_red.sum", 1}}));
  EXPECT_EQ(weights_of(MetricSum::l2_write_sectors, "GA100"), (Weights{{tex + ".sum", 1}, {tex + "_op_read.sum", -1}}));
  EXPECT_EQ(weights_of(MetricSum::l2_read_sectors, "GA100"), (Weights{{tex + "_op_read.sum", 1}}));
}

// How full SMs are: the four schedulers of an SM count as active while it is.
TEST(Metrics, SmsAndTheirSchedulersAreActiveTogether) {
  using Weights = std::map<std::string, double>;
  for (const char* chip : {"TU102", "GA100", "GH100", "GB202"}) {
    EXPECT_EQ(weights_of(MetricSum::active_sm_cycles, chip), (Weights{{"sm__cycles_active.sum", 1}})) << chip;
    EXPECT_EQ(weights_of(MetricSum::scheduler_cycles, chip), (Weights{{"sm__cycles_active.sum", 4}})) << chip;
    EXPECT_THAT(counters_known(chip),
                IsSupersetOf({Counter::sm_cycles, Counter::resident_warp_cycles, Counter::machine_warp_instructions,
                              Counter::machine_thread_instructions}))
        << chip;
    EXPECT_THAT(counters_known(chip), Not(Contains(Counter::atomic_operations))) << chip;
  }
}

TEST(Metrics, AsynchronousCopiesAreReadsOfL1WhereTheyExist) {
  const std::string copies = "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum";
  EXPECT_EQ(weights_of(MetricSum::l1_read_sectors, "GA102").count(copies), 1u);
  EXPECT_EQ(weights_of(MetricSum::l1_read_sectors, "TU102").count(copies), 0u);
}

RangeValues all_of(std::string_view chip, double value, std::optional<TensorType> tensor = {}) {
  RangeValues values;
  for (const std::string& metric : metrics_of(chip, tensor)) values.metrics[metric] = value;
  return values;
}

TEST(Metrics, WhatCouldNotBeCountedIsAbsentAndWhatIsNoneIsZero) {
  RangeValues values = all_of("AD102", 0);
  EXPECT_EQ(counters_of("AD102", values)[Counter::flops_f32], 0u);
  values.metrics[op("fmul")] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(counters_of("AD102", values)[Counter::flops_f32].has_value());
  EXPECT_EQ(counters_of("AD102", values)[Counter::flops_f64], 0u);
  values.metrics[op("dfma")] = -1;
  EXPECT_FALSE(counters_of("AD102", values)[Counter::flops_f64].has_value());
  values.metrics.erase("dram__bytes_read.sum");
  EXPECT_FALSE(counters_of("AD102", values)[Counter::dram_read_bytes].has_value());
  EXPECT_EQ(counters_of("AD102", values)[Counter::dram_write_bytes], 0u);
}

TEST(Metrics, ADifferenceBelowZeroIsNoCount) {
  RangeValues values = all_of("GA100", 10);
  EXPECT_EQ(counters_of("GA100", values)[Counter::l2_write_sectors], 0u);
  values.metrics["lts__t_sectors_srcunit_tex.sum"] = 9;
  EXPECT_FALSE(counters_of("GA100", values)[Counter::l2_write_sectors].has_value());
}

TEST(Metrics, AllThatIsKnownOfAChipIsCountedAndNothingElse) {
  for (const std::string_view chip : counted_chips()) {
    const Counters counters = counters_of(chip, all_of(chip, 0));
    std::vector<Counter> counted;
    for (std::size_t i = 0; i < kCounterCount; ++i) {
      if (counters[static_cast<Counter>(i)]) counted.push_back(static_cast<Counter>(i));
    }
    EXPECT_EQ(counted, counters_known(chip)) << chip;
  }
  EXPECT_THAT(
      counters_known("GH100"),
      IsSupersetOf({Counter::flops_f32, Counter::flops_tensor, Counter::dram_read_bytes, Counter::dram_write_bytes,
                    Counter::l2_write_sectors, Counter::l1_read_sectors, Counter::shared_wavefronts}));
  // The virtual GPU counts PTX instructions, hardware counts machine instructions.
  EXPECT_THAT(counters_known("GH100"), Not(Contains(Counter::warp_instructions)));
}

TEST(Metrics, TensorFlopsAreThoseOfTheTypeThatWasAskedFor) {
  for (const std::string_view chip : {"TU104", "GA100", "AD104", "GH100", "GB100", "GB202"}) {
    EXPECT_EQ(counters_of(chip, all_of(chip, 4096, TensorType::f16_f32))[Counter::flops_tensor], 4096u) << chip;
    EXPECT_EQ(counters_of(chip, all_of(chip, 0, TensorType::f16_f32))[Counter::flops_tensor], 0u) << chip;
  }
}

TEST(Metrics, TensorFlopsOfNoTypeAreZeroOrUnknown) {
  RangeValues values = all_of("GH100", 0);
  EXPECT_EQ(counters_of("GH100", values)[Counter::flops_tensor], 0u);
  values.metrics["sm__inst_executed_pipe_tensor_op_hmma.sum"] = 64;
  EXPECT_FALSE(counters_of("GH100", values)[Counter::flops_tensor].has_value());
  values.metrics["sm__inst_executed_pipe_tensor_op_hmma_type_hfma2.sum"] = 64;  // fp16 FMAs, not matrix products
  EXPECT_EQ(counters_of("GH100", values)[Counter::flops_tensor], 0u);
  // A chip without tensor cores, and a tensor type that the chip lacks.
  EXPECT_FALSE(counters_of("TU116", all_of("TU116", 0))[Counter::flops_tensor].has_value());
  EXPECT_EQ(metrics_of("TU104", TensorType::bf16_f32), metrics_of("TU104"));
}

// Returns the tensor type of a kernel with these instructions.
std::optional<TensorType> type_of(const std::string& instructions) {
  const auto module = ptx::parse(
      ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<9>;\n.reg .f32 %f<9>;\n"
      ".reg .f64 %d<9>;\n" +
          instructions + "ret;\n}\n",
      "kernel.cu");
  EXPECT_TRUE(module.ok()) << module.error().text();
  return module ? tensor_type_of(*module) : std::nullopt;
}

TEST(Metrics, TheTypeOfTensorOperationsIsThatOfTheModulesOnlyOne) {
  const std::string f16 =
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, "
      "{%r4, %r5}, {%f0, %f1, %f2, %f3};\n";
  const std::string bf16 =
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3}, "
      "{%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3};\n";
  const std::string s8 =
      "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%r6}, "
      "{%r0, %r1, %r2, %r3};\n";
  EXPECT_EQ(type_of(""), std::nullopt);
  EXPECT_EQ(type_of(f16 + f16), TensorType::f16_f32);
  EXPECT_EQ(type_of(bf16), TensorType::bf16_f32);
  EXPECT_EQ(type_of(f16 + bf16), std::nullopt);
  EXPECT_EQ(type_of(f16 + s8), TensorType::f16_f32) << "integers are no FLOPs";
  EXPECT_EQ(type_of("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r0, %r1}, {%r2, %r3, %r4, %r5}, {%r6, %r7}, "
                    "{%r0, %r1};\n"),
            TensorType::f16_f16);
  EXPECT_EQ(type_of("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d0, %d1}, {%d2}, {%d3}, {%d0, %d1};\n"),
            TensorType::f64);
  EXPECT_EQ(
      type_of("wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, "
              "{%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};\n"),
      TensorType::tf32_f32);
  EXPECT_EQ(type_of("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, "
                    "{%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, "
                    "{%r0, %r1, %r2, %r3};\n"),
            std::nullopt)
      << "sums go in as f16";
}

}  // namespace
}  // namespace roofwalk
