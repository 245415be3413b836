import { Screen } from '../components/screen.tsx';

/** The seal of the audit trail. */
export const Seal = () => (
  <Screen title="Seal">
    <p class="empty">The seal of the trail will be here.</p>
  </Screen>
);
