// Declares Json for headers that only name it.
#pragma once

namespace roofwalk {

class Json;

}  // namespace roofwalk
