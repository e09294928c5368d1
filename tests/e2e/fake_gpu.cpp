// Replaces the driver that is opened at run time by a fake one, whose kernels run on the virtual GPU.
#include "common/device/cuda/driver/driver_api.h"
#include "common/specs/machine.h"
#include "tests/support/fake_driver.h"

namespace roofwalk {

Result<DriverApi> load_driver_api(const char*) {
  // No ptxas knows this compute capability, so the artifact stays PTX. That is needed, because the fake driver cannot
  // run machine code.
  static const Machine machine = [] {
    Machine m = *load_machine("classroom");
    m.compute_capability = 130;
    // The GPU is so slow that small problems take milliseconds, as the kernels of the roofs must.
    constexpr double kSlower = 100;
    m.clock_hz /= kSlower;
    m.dram_bytes_per_s /= kSlower;
    return m;
  }();
  static test::FakeDriver driver(machine);
  driver.takes_its_time = true;  // so that the times that the parent process measures are plausible
  ROOFWALK_TRY_STATUS(start_driver(driver.api()));
  return driver.api();
}

}  // namespace roofwalk
