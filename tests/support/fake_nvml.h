// A fake NVML with one GPU that tests configure. A function named in `answers` returns the error given there.
#pragma once

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "common/device/cuda/nvml/nvml_api.h"

namespace roofwalk::testing {

struct FakeNvml {
  std::string uuid = "GPU-1", name = "NVIDIA Test", driver = "580.65.06";
  std::string slice;  // the UUID of a slice; empty: the GPU is not sliced
  unsigned sm_mhz = 1980, sm_max_mhz = 1980, memory_mhz = 2619, memory_max_mhz = 2619;
  unsigned long long reasons = 0;
  int celsius = 41, persistence = 1, ecc = 1, compute_mode = 0, virtualization = 0;
  unsigned milliwatts = 123'450, limit_milliwatts = 700'000, busy = 3, mig = 0;
  unsigned long long used_bytes = 1ull << 30, total_bytes = 80ull << 30;
  std::vector<nvml::Process> processes, old_processes;
  std::map<std::string, nvml::Return> answers;
  int open = 0;  // number of inits without a shutdown

  // Only one can exist at a time, because the table's functions have no object.
  static FakeNvml*& current() {
    static FakeNvml* fake = nullptr;
    return fake;
  }

  NvmlApi api() {
    current() = this;
    NvmlApi api;
    api.init = [] { return current()->give("init", [](FakeNvml& fake) { ++fake.open; }); };
    api.shutdown = [] { return current()->give("shutdown", [](FakeNvml& fake) { --fake.open; }); };
    api.count = [](unsigned* n) { return current()->give("count", [n](FakeNvml&) { *n = 1; }); };
    api.device_by_index = [](unsigned, nvml::Device* device) {
      return current()->give("device_by_index", [device](FakeNvml& fake) { *device = fake.whole(); });
    };
    api.device_by_uuid = [](const char* asked, nvml::Device* device) {
      FakeNvml& fake = *current();
      if (asked != fake.uuid && (fake.slice.empty() || asked != fake.slice)) return nvml::kNotFound;
      *device = asked == fake.uuid ? fake.whole() : fake.part();
      return nvml::kSuccess;
    };
    api.uuid = [](nvml::Device, char* text, unsigned length) {
      return current()->give("uuid", [=](FakeNvml& fake) { std::strncpy(text, fake.uuid.c_str(), length); });
    };
    api.error_text = [](nvml::Return) { return "Fake Trouble"; };
    api.driver_version = [](char* text, unsigned length) {
      return current()->give("driver_version",
                             [=](FakeNvml& fake) { std::strncpy(text, fake.driver.c_str(), length); });
    };
    api.name = [](nvml::Device device, char* text, unsigned length) {
      return current()->give("name", [=](FakeNvml& fake) {
        std::strncpy(text, (fake.name + (device == fake.part() ? " 1g.10gb" : "")).c_str(), length);
      });
    };
    api.parent_of_slice = [](nvml::Device, nvml::Device* device) {
      return current()->give("parent_of_slice", [device](FakeNvml& fake) { *device = fake.whole(); });
    };
    api.clock = [](nvml::Device device, int type, unsigned* mhz) {
      return current()->card_only(
          "clock", device, [=](FakeNvml& fake) { *mhz = type == nvml::kSmClock ? fake.sm_mhz : fake.memory_mhz; });
    };
    api.max_clock = [](nvml::Device device, int type, unsigned* mhz) {
      return current()->card_only("max_clock", device, [=](FakeNvml& fake) {
        *mhz = type == nvml::kSmClock ? fake.sm_max_mhz : fake.memory_max_mhz;
      });
    };
    api.clock_reasons = [](nvml::Device device, unsigned long long* bits) {
      return current()->card_only("clock_reasons", device, [=](FakeNvml& fake) { *bits = fake.reasons; });
    };
    api.temperature = [](nvml::Device device, nvml::Temperature* temperature) {
      if (temperature->version != (12 | 1u << 24)) return 25;  // argument version mismatch
      return current()->card_only("temperature", device, [=](FakeNvml& fake) { temperature->celsius = fake.celsius; });
    };
    api.old_temperature = [](nvml::Device device, int, unsigned* degrees) {
      return current()->card_only("old_temperature", device,
                                  [=](FakeNvml& fake) { *degrees = static_cast<unsigned>(fake.celsius); });
    };
    api.power = [](nvml::Device device, unsigned* mw) {
      return current()->card_only("power", device, [=](FakeNvml& fake) { *mw = fake.milliwatts; });
    };
    api.power_limit = [](nvml::Device device, unsigned* mw) {
      return current()->card_only("power_limit", device, [=](FakeNvml& fake) { *mw = fake.limit_milliwatts; });
    };
    api.utilization = [](nvml::Device device, nvml::Utilization* utilization) {
      return current()->card_only("utilization", device, [=](FakeNvml& fake) { utilization->gpu = fake.busy; });
    };
    api.memory = [](nvml::Device, nvml::MemoryV2* memory) {
      if (memory->version != (40 | 2u << 24)) return 25;
      return current()->give("memory", [memory](FakeNvml& fake) {
        memory->used = fake.used_bytes;
        memory->total = fake.total_bytes;
      });
    };
    api.old_memory = [](nvml::Device, nvml::Memory* memory) {
      return current()->give("old_memory", [memory](FakeNvml& fake) {
        memory->used = fake.used_bytes + (500ull << 20);  // includes what the driver reserves
        memory->total = fake.total_bytes;
      });
    };
    api.processes = [](nvml::Device, unsigned* count, nvml::Process* list) {
      return current()->list("processes", current()->processes, count, list);
    };
    api.old_processes = [](nvml::Device, unsigned* count, nvml::Process* list) {
      return current()->list("old_processes", current()->old_processes, count, list);
    };
    api.mig_mode = [](nvml::Device device, unsigned* now, unsigned* later) {
      return current()->card_only("mig_mode", device, [=](FakeNvml& fake) { *now = *later = fake.mig; });
    };
    api.persistence_mode = [](nvml::Device device, int* mode) {
      return current()->card_only("persistence_mode", device, [=](FakeNvml& fake) { *mode = fake.persistence; });
    };
    api.ecc_mode = [](nvml::Device device, int* now, int* later) {
      return current()->card_only("ecc_mode", device, [=](FakeNvml& fake) { *now = *later = fake.ecc; });
    };
    api.compute_mode = [](nvml::Device device, int* mode) {
      return current()->card_only("compute_mode", device, [=](FakeNvml& fake) { *mode = fake.compute_mode; });
    };
    api.virtualization_mode = [](nvml::Device device, int* mode) {
      return current()->card_only("virtualization_mode", device, [=](FakeNvml& fake) { *mode = fake.virtualization; });
    };
    return api;
  }

 private:
  nvml::Device whole() { return reinterpret_cast<nvml::Device>(&uuid); }
  nvml::Device part() { return reinterpret_cast<nvml::Device>(&slice); }

  template <class Function>
  nvml::Return give(const char* what, Function function) {
    if (const auto answer = answers.find(what); answer != answers.end()) return answer->second;
    function(*this);
    return nvml::kSuccess;
  }

  // For what only a whole card has: a slice of it (MIG) has no clock, temperature or power of its own.
  template <class Function>
  nvml::Return card_only(const char* what, nvml::Device device, Function function) {
    return device == part() ? nvml::kNotSupported : give(what, function);
  }

  nvml::Return list(const char* what, const std::vector<nvml::Process>& from, unsigned* count, nvml::Process* to) {
    const unsigned room = *count;
    *count = static_cast<unsigned>(from.size());
    if (answers.contains(what)) return answers.at(what);
    if (room < from.size()) return nvml::kInsufficientSize;
    std::copy(from.begin(), from.end(), to);
    return nvml::kSuccess;
  }
};

}  // namespace roofwalk::testing
