// The virtual GPU behind the device interface.
#pragma once

#include <memory>

#include "common/device/device.h"

namespace roofwalk {

std::unique_ptr<Device> make_virtual_device(Machine machine);

}  // namespace roofwalk
