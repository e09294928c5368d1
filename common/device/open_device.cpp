#include <fmt/format.h>

#include "common/device/device.h"
#include "common/device/virtual/virtual_device.h"

namespace roofwalk {

Result<std::unique_ptr<Device>> open_device(std::string_view name) {
  constexpr std::string_view kVirtual = "virtual:";
  if (name == "auto" || name == "virtual") name = "virtual:classroom";
  if (!name.starts_with(kVirtual)) {
    return Error{.message = fmt::format("unknown device `{}`", name),
                 .advice = "virtual:NAME, where `./roofwalk machines` lists the names; virtual:NAME/8 is 8 of its SMs"};
  }
  ROOFWALK_TRY(Machine machine, load_machine(std::string(name.substr(kVirtual.size()))));
  return make_virtual_device(std::move(machine));
}

}  // namespace roofwalk
