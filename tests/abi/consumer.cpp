// The same engine, in C++11.
#include "consumer.c"
