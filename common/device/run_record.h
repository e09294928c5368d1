#pragma once
#include "common/record/run_record.h"
