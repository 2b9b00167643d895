/* The version that results carry: orchard's own number and a hash of the sources that decide answers. A run of other code is
 * therefore never taken for an equal one. */
#ifndef ORCHARD_SIM_RUN_RUN_VERSION_H
#define ORCHARD_SIM_RUN_RUN_VERSION_H

const char *run_model_version(void); /* "0.1.0+3141592653" */

#endif
