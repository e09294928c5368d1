// In place of the driver that is opened at run time: a fake one, whose kernels run on the virtual GPU.
#include "common/device/cuda/driver/driver_api.h"
#include "common/specs/machine.h"
#include "tests/support/fake_driver.h"

namespace roofwalk {

Result<DriverApi> load_driver_api(const char*) {
  // A chip that no ptxas knows: code for a real one would be machine code, which nothing here can run.
  static const Machine machine = [] {
    Machine m = *load_machine("classroom");
    m.compute_capability = 130;
    // So slow that a small problem keeps it busy for milliseconds, as the roofs' kernels must.
    constexpr double kSlower = 100;
    m.clock_hz /= kSlower;
    m.dram_bytes_per_s /= kSlower;
    return m;
  }();
  static test::FakeDriver driver(machine);
  driver.takes_its_time = true;  // or the parent would not believe it
  ROOFWALK_TRY_STATUS(start_driver(driver.api()));
  return driver.api();
}

}  // namespace roofwalk
