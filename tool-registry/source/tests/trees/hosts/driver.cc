void run(cl_command_queue q, cl_kernel handle) {
  for (;;) {
    clEnqueueNDRangeKernel(q, handle, 1, NULL, &g, &l, 0, NULL, NULL);  //: launch ? direct explicit
    clEnqueueReadBuffer(q, b, CL_TRUE, 0, 4, p, 0, NULL, NULL);  //: memcpy_sync direct
    clEnqueueWriteBuffer(q, b, CL_FALSE, 0, 4, p, 0, NULL, NULL);
    clFinish(q);  //: device_sync direct
  }
}
