// Starts the application.

import './elements/kernel-scope.ts';
