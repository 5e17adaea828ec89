#include <smelt/smelt.h>

int main(void) {
  smelt_device_options options = {sizeof(options), SMELT_DEVICE_CPU, 1, 0};
  smelt_device* device = 0;
  const smelt_status status = smelt_device_open(&options, &device);
  smelt_device_release(device);
  return status;
}
