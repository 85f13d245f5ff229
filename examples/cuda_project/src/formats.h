#pragma once

// Prints a few values in the formats of the toolkit; needs no device.
void print_formats();
