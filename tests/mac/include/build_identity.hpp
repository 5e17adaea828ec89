/* Generated where it is built. */
#define SMELT_SOURCE_IDENTITY ""
