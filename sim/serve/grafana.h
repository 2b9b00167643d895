/* A dashboard of Grafana for the metrics of this server: grafana.json as a string; sim/build.mk makes it. */
#ifndef ORCHARD_SIM_SERVE_GRAFANA_H
#define ORCHARD_SIM_SERVE_GRAFANA_H

extern const char serve_grafana[];

#endif
