#pragma once

#include <vector>

// The sum of the values, computed on the device in two streams.
double device_sum(const std::vector<float>& values);
