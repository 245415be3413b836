import { Screen } from '../components/screen.tsx';

/** The audit trail. */
export const Audit = () => (
  <Screen title="Audit">
    <p class="empty">The audit trail will be here.</p>
  </Screen>
);
