import { createMetrics } from "./control/metrics.ts";
import { LOCAL_DOOR, startHttpServer } from "./control/http-server.ts";
import { createRoutes } from "./control/routes.ts";
import { loadTokens } from "./control/tokens.ts";
import type { Kit, Logger } from "./kit-api.ts";
import type { Plan } from "./plan/types.ts";
